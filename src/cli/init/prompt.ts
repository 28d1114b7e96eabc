/** Questions to a person at a terminal. */
import { createInterface } from "node:readline/promises";
import { type Readable, Writable } from "node:stream";
import { WarehouseError } from "../../common/errors.ts";
import { printableText } from "../render/terminal.ts";

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

  /** Asks until the answer can be read; Enter alone answers `fallback`, where there is one. */
  ask<T>(question: string, fallback: string | null, read: ReadAnswer<T>): Promise<T> {
    const shown = fallback === null || fallback === "" ? question : `${question} [${fallback}]`;
    const answer = () => this.#question(`${shown}: `);
    return this.#untilRead(answer, fallback, read);
  }

  /** Asks for a secret, which the terminal does not show. */
  askHidden<T>(question: string, read: ReadAnswer<T>): Promise<T> {
    return this.#untilRead(() => this.#hiddenQuestion(`${question}: `), null, read);
  }

  async #untilRead<T>(
    answer: () => Promise<string>,
    fallback: string | null,
    read: ReadAnswer<T>,
  ): Promise<T> {
    for (;;) {
      const text = (await answer()).trim();
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

  async #hiddenQuestion(text: string): Promise<string> {
    this.#out.write(text);
    this.#isHidden = true;
    try {
      return await this.#question("");
    } finally {
      this.#isHidden = false;
      this.#out.write("\n");
    }
  }

  async #question(text: string): Promise<string> {
    const { signal } = this.#closed;
    signal.throwIfAborted();
    try {
      return await this.#lines.question(text, { signal });
    } catch (thrown) {
      throw signal.aborted ? signal.reason : thrown;
    }
  }

  [Symbol.dispose](): void {
    this.#lines.close();
  }
}
