/** Text on a terminal: its width, how it is cut and wrapped, and how it is written. */
import { once } from "node:events";
import { createRequire } from "node:module";
import type { Writable } from "node:stream";
import { asWarehouseError, codeOf } from "../common/errors.ts";
import { jsonText, printableText } from "../common/printable.ts";

export { printableLine, printableText } from "../common/printable.ts";

/** Quotes a text as one word of a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Loaded for the first text that is not ASCII, because its tables take a twentieth of the time to start. */
const load = createRequire(import.meta.url);
const stringWidth = (): typeof import("string-width") => load("string-width");

/** Width of a printable text in cells: East Asian characters and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth().default(text);
}

let segmenter: Intl.Segmenter | undefined;

/** The characters of a text as a reader sees them, each of one or more code points. */
function* charactersOf(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter();
  for (const { segment } of segmenter.segment(text)) yield segment;
}

/** Cuts a text to at most `width` cells; a cut text ends with `…`. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const character of charactersOf(text)) {
    used += displayWidth(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Wraps a text into at most `maxLines` lines of `width` cells, at blanks if possible; the last line is cut. */
export function wrapText(text: string, width: number, maxLines: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < maxLines - 1 && displayWidth(rest) > width) {
    let fits = "";
    for (const character of charactersOf(rest)) {
      if (fits !== "" && displayWidth(fits + character) > width) break;
      fits += character;
    }
    const blank = rest[fits.length] === " " ? fits.length : fits.lastIndexOf(" ");
    const end = blank > 0 ? blank : (/^.+[_/-]/.exec(fits)?.[0] ?? fits).length;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, truncate(rest, width)];
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
  let failure: Error | undefined;
  const onError = (error: Error) => {
    failure ??= error;
  };
  out.on("error", onError);
  try {
    for await (const text of texts) {
      if (failure === undefined && !out.write(text)) await drained(out).catch(onError);
      if (failure !== undefined) break;
    }
    if (failure === undefined) await flushed(out).catch(onError);
  } finally {
    out.off("error", onError);
  }
  const isClosedPipe = ["EPIPE", "ERR_STREAM_DESTROYED"].includes(codeOf(failure) ?? "");
  if (failure !== undefined && !isClosedPipe) throw failure;
}

/** Resolves when the stream takes more, or is closed. */
async function drained(out: Writable): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    await Promise.race([once(out, "drain", { signal }), once(out, "close", { signal })]);
  } finally {
    waiting.abort();
  }
}

/** Resolves when all that was written is taken; rejects if it is not. */
function flushed(out: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write("", (error) => (error ? reject(error) : resolve()));
  });
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
