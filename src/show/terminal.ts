/** Text on a terminal: its width, how it is cut and wrapped, and how it is written. */
import { createRequire } from "node:module";
import type { Writable } from "node:stream";
import { asWarehouseError, codeOf } from "../common/errors.ts";
import { jsonText, printableText } from "../common/printable.ts";

export { printableLine, printableText } from "../common/printable.ts";

/** Where an answer is written. `columns`: width of the screen in characters; `undefined` for files and pipes. */
export interface TerminalEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Writable & { readonly isTTY?: boolean; readonly columns?: number | undefined };
}

/** Width of an answer in a pipe or file, in characters. */
const PIPED_WIDTH = 120;

/** Width of an answer: of the screen, else `COLUMNS`, else 120 characters. */
export function widthOf({ env, out }: TerminalEnvironment): number {
  // A terminal without a window, as of a job runner, has 0 columns.
  return out.columns || Number(env.COLUMNS) || PIPED_WIDTH;
}

/** Whether to print colours: only to a terminal, and not with `NO_COLOR` (no-color.org) or `TERM=dumb`. */
export function takesColours({ env, out }: TerminalEnvironment): boolean {
  return out.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
}

/** Loaded for the first text that is not ASCII, because its tables take a twentieth of the time to start. */
const load = createRequire(import.meta.url);
const stringWidth = (): typeof import("string-width") => load("string-width");

/** Width of a printable text in cells: East Asian characters and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth().default(text);
}

let segmenter: Intl.Segmenter | undefined;

/** The longest beginning of a text that fits into `width` cells, of whole characters as a reader sees them. */
function beginning(text: string, width: number): string {
  segmenter ??= new Intl.Segmenter();
  let fits = "";
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    used += displayWidth(segment);
    if (used > width) break;
    fits += segment;
  }
  return fits;
}

/**
 * Wraps a text into at most `maxLines` lines of `width` cells, at blanks if possible. If the last line is cut, it ends with
 * `…`.
 */
export function wrapText(text: string, width: number, maxLines: number): string[] {
  if (displayWidth(text) <= width) return [text];
  if (maxLines === 1) return [`${beginning(text, width - 1)}…`];
  const fits = beginning(text, width) || text;
  const blank = text[fits.length] === " " ? fits.length : fits.lastIndexOf(" ");
  const end = blank > 0 ? blank : (/^.+[_/-]/.exec(fits)?.[0] ?? fits).length;
  return [text.slice(0, end), ...wrapText(text.slice(end).trimStart(), width, maxLines - 1)];
}

/** A paragraph with `lead` before its first line and as many blanks before the others. One line without a width. */
export function paragraph(lead: string, text: string, width: number | undefined): string {
  const indent = " ".repeat(displayWidth(lead));
  const textWidth = Math.max(20, (width ?? Number.POSITIVE_INFINITY) - indent.length);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (displayWidth(longer) <= textWidth || line === "") {
      line = longer;
    } else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].map((each, index) => `${index === 0 ? lead : indent}${each}\n`).join("");
}

/** Writes texts as fast as the reader takes them. A reader that closes the pipe, such as `head`, is not an error. */
export async function writeAll(
  out: Writable,
  texts: AsyncIterable<string | Uint8Array> | Iterable<string>,
): Promise<void> {
  // The callback of a write has the error, too.
  const ignore = () => {};
  out.on("error", ignore);
  try {
    for await (const text of texts)
      await new Promise<void>((resolve, reject) => {
        out.write(text, (error) => (error ? reject(error) : resolve()));
      });
  } catch (thrown) {
    if (!["EPIPE", "ERR_STREAM_DESTROYED"].includes(codeOf(thrown) ?? "")) throw thrown;
  } finally {
    out.off("error", ignore);
  }
}

/** Writes a text, or an object as one line of JSON. */
export async function writeResult(out: Writable, result: string | object): Promise<void> {
  await writeAll(out, [typeof result === "string" ? printableText(result) : jsonLine(result)]);
}

export function jsonLine(value: object): string {
  return `${jsonText(value)}\n`;
}

/** Writes the outcome of finished work. If it cannot be written, that is a warning: `done` says what is finished. */
export async function writeOutcome(
  { out, err }: { readonly out: Writable; readonly err: Writable },
  { text, done }: { readonly text: string; readonly done: string },
): Promise<void> {
  try {
    await writeAll(out, [text]);
  } catch (thrown) {
    const warning = `${done} could not be written: ${asWarehouseError(thrown).message}\n`;
    await writeAll(err, [printableText(warning)]).catch(() => {
      // Neither stream can be written.
    });
  }
}
