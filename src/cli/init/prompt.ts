/** Questions to a person at a terminal. */
import { createInterface } from "node:readline/promises";
import { type Readable, Writable } from "node:stream";
import { WarehouseError } from "../../common/errors.ts";
import { printableText } from "../../show/terminal.ts";

/** What becomes of an answer; it throws a WarehouseError where it is none. */
export type ReadAnswer<T> = (text: string) => T | Promise<T>;

export class Prompt implements Disposable {
  readonly #out: Writable;
  readonly #closed = new AbortController();
  readonly #lines: ReturnType<typeof createInterface>;
  #isHidden = false;

  constructor(input: Readable & { readonly isTTY?: boolean }, out: Writable) {
    this.#out = out;
    const output = new Writable({
      decodeStrings: false,
      write: (chunk: string, _encoding, done) => {
        if (!this.#isHidden) out.write(chunk);
        done();
      },
    });
    this.#lines = createInterface({ input, output, terminal: input.isTTY === true });
    // Ctrl-C and Ctrl-D, or an input that ended.
    this.#lines.on("close", () =>
      this.#closed.abort(new WarehouseError("run.interrupted", "Interrupted; nothing was written.")),
    );
  }

  /** Asks until the answer can be read; Enter alone answers `fallback`, where there is one. A hidden answer is not shown. */
  async ask<T>(question: string, fallback: string | null, read: ReadAnswer<T>, isHidden = false): Promise<T> {
    const shown = fallback === null || fallback === "" ? `${question}: ` : `${question} [${fallback}]: `;
    for (;;) {
      const text = (await this.#answer(shown, isHidden)).trim();
      try {
        return await read(text === "" && fallback !== null ? fallback : text);
      } catch (thrown) {
        if (!(thrown instanceof WarehouseError) || thrown.exitCode !== 2) throw thrown;
        this.say(thrown.message);
      }
    }
  }

  say(text: string): void {
    this.#out.write(printableText(`${text}\n`));
  }

  async #answer(question: string, isHidden: boolean): Promise<string> {
    const { signal } = this.#closed;
    signal.throwIfAborted();
    if (isHidden) this.#out.write(question);
    this.#isHidden = isHidden;
    try {
      return await this.#lines.question(isHidden ? "" : question, { signal });
    } catch (thrown) {
      throw signal.aborted ? signal.reason : thrown;
    } finally {
      this.#isHidden = false;
      if (isHidden) this.#out.write("\n");
    }
  }

  [Symbol.dispose](): void {
    this.#lines.close();
  }
}
