import { once } from "node:events";
import { createRequire } from "node:module";
import type { Writable } from "node:stream";
import { asWarehouseError, codeOf } from "../common/errors.ts";
import { jsonText, printableText } from "../common/printable.ts";

export { printableLine, printableText } from "../common/printable.ts";

/** One word to a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const ASCII = /^[ -~]*$/;

/** Loaded for the first text that is not ASCII: what it knows of all characters takes a twentieth of a start. */
const load = createRequire(import.meta.url);
const stringWidth = (): typeof import("string-width") => load("string-width");

/** Cells that a printable text takes on a terminal: two for East Asian characters and emoji, none for combining marks. */
export function displayWidth(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth().default(text);
}

let segmenter: Intl.Segmenter | undefined;

/** What a reader takes for one character each, one after the other. */
function* charactersOf(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter();
  for (const { segment } of segmenter.segment(text)) yield segment;
}

/** A text that takes `width` cells at most; one that is cut ends with `…`, and no character is cut in itself. */
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

/** A text in lines of `width` cells at most, broken at blanks, else within names; the last of `most` lines is cut. */
export function wrapped(text: string, width: number, most: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < most - 1 && displayWidth(rest) > width) {
    const [line, end] = firstLine(rest, width);
    lines.push(line);
    rest = rest.slice(end).trimStart();
  }
  return [...lines, truncate(rest, width)];
}

/** The beginning of a text that finds room, and where it ends. */
function firstLine(text: string, width: number): [line: string, end: number] {
  let fits = "";
  for (const character of charactersOf(text)) {
    if (fits !== "" && displayWidth(fits + character) > width) break;
    fits += character;
  }
  const blank = text[fits.length] === " " ? fits.length : fits.lastIndexOf(" ");
  const end = blank > 0 ? blank : (/^.+[_/-]/.exec(fits)?.[0] ?? fits).length;
  return [text.slice(0, end), end];
}

/**
 * A paragraph whose further lines begin under its first word: `lead` stands before the first line, and as many spaces
 * before the others. Without a width it is one line.
 */
export function paragraph(lead: string, text: string, width: number | undefined): string {
  const indent = " ".repeat(displayWidth(lead));
  const room = Math.max(20, (width ?? Number.POSITIVE_INFINITY) - indent.length);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (displayWidth(longer) <= room || line === "") {
      line = longer;
    } else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].map((each, index) => `${index === 0 ? lead : indent}${each}\n`).join("");
}

/**
 * Writes texts as fast as they are taken. A reader that goes away, such as `head`, ends the writing and is not an error.
 */
export async function writeAll(
  out: Writable,
  texts: AsyncIterable<string> | Iterable<string>,
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
  if (failure !== undefined && !isClosedPipe(failure)) throw failure;
}

/** Writes an answer: a text, or an object as one line of JSON. */
export async function writeAnswer(out: Writable, answer: string | object): Promise<void> {
  await writeAll(out, [typeof answer === "string" ? printableText(answer) : jsonLine(answer)]);
}

export function jsonLine(answer: object): string {
  return `${jsonText(answer)}\n`;
}

/** Resolves once more is taken, or nothing ever again. */
async function drained(out: Writable): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    await Promise.race([once(out, "drain", { signal }), once(out, "close", { signal })]);
  } finally {
    waiting.abort();
  }
}

/**
 * Writes what came of work that is done. That nobody can read it takes nothing from the work, so it is a warning:
 * `done` says what holds all the same.
 */
export async function writeOutcome(
  { out, err }: { readonly out: Writable; readonly err: Writable },
  { text, done }: { readonly text: string; readonly done: string },
): Promise<void> {
  try {
    await writeAll(out, [text]);
  } catch (thrown) {
    const warning = `${done} could not be written: ${asWarehouseError(thrown).message}\n`;
    await writeAll(err, [printableText(warning)]).catch(() => {
      // Nothing is left to say it with.
    });
  }
}

/** Resolves once everything written so far was taken; rejects where it was not. */
function flushed(out: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write("", (error) => (error ? reject(error) : resolve()));
  });
}

function isClosedPipe(error: Error): boolean {
  return ["EPIPE", "ERR_STREAM_DESTROYED"].includes(codeOf(error) ?? "");
}
