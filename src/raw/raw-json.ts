/** The text of a raw document: what did not change is copied as it came, for to make it anew takes longer. */
import type { JsonObject } from "./document.ts";

/** A document as it came, whose text is also what `JSON.stringify` might have written. */
export interface SourceText {
  /** Of the whole page. */
  readonly bytes: Buffer;
  /** Where its members end: places of the brace before the first, and of what follows each. */
  readonly marks: readonly number[];
  /** Of the document's own members, in the order of the text. */
  readonly names: readonly string[];
}

/** Names of the members in whose text one of these bytes stands. */
export function membersContaining(
  wanted: readonly number[],
  { bytes, marks, names }: SourceText,
): Set<string> {
  const [first = 0] = marks;
  const text = bytes.subarray(first, marks[names.length]);
  const found = new Set<string>();
  for (const byte of wanted) {
    let member = 0;
    for (let at = text.indexOf(byte); at >= 0; at = text.indexOf(byte, (marks[member] ?? 0) - first)) {
      while ((marks[member] ?? Infinity) <= first + at) member += 1;
      found.add(names[member - 1] ?? "");
    }
  }
  return found;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LAST_OF_ASCII = 0x7e;
const COMMA = Buffer.from(",");
const OPEN_BRACE = Buffer.from("{");
const CLOSE_BRACE = Buffer.from("}");

const NOTHING: ReadonlyMap<string, Buffer> = new Map();

/**
 * The JSON text of a document, in UTF-8 and in pieces, some of them of the bytes that were `sent`. `changed`: names of
 * its own members that may have another value since, or be gone; none may have come. Without either the text is made
 * anew. `made`: texts of members as they are now, so far as they are known: to make them again takes longer.
 */
export function serializeDocument(
  document: JsonObject,
  sent: SourceText | undefined,
  changed: ReadonlySet<string> | undefined,
  made: ReadonlyMap<string, Buffer> = NOTHING,
): readonly Buffer[] {
  const runs =
    sent === undefined || changed === undefined ? undefined : runsOf(document, sent, changed, made);
  return runs === undefined ? [Buffer.from(JSON.stringify(document))] : asObject(runs);
}

/** Members, one or several as they stand in the text. Undefined where their order is not that of the document. */
function runsOf(
  document: JsonObject,
  sent: SourceText,
  changed: ReadonlySet<string>,
  made: ReadonlyMap<string, Buffer>,
): Buffer[] | undefined {
  const { bytes, marks, names } = sent;
  const runs: Buffer[] = [];
  let copied = 0;
  const copyUntil = (member: number): void => {
    if (member > copied) runs.push(bytes.subarray((marks[copied] ?? 0) + 1, marks[member]));
  };
  for (let member = 0; member < names.length; member++) {
    const name = names[member] ?? "";
    if (!changed.has(name)) continue;
    if (!isNamed(bytes, (marks[member] ?? 0) + 1, name)) return undefined;
    copyUntil(member);
    copied = member + 1;
    if (!Object.hasOwn(document, name)) continue;
    const text = made.get(name);
    runs.push(text ?? Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(document[name])}`));
  }
  copyUntil(names.length);
  return runs;
}

/** Whether the member that begins at `from`, or after white space, has this name. */
function isNamed(bytes: Buffer, from: number, name: string): boolean {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += 1;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code < SPACE || code > LAST_OF_ASCII || code === QUOTE || code === BACKSLASH)
      return isQuotedAt(bytes, at, name);
    if (bytes[at + 1 + i] !== code) return false;
  }
  return bytes[at + 1 + name.length] === QUOTE;
}

/** The same of any name, whatever has to be escaped in it. */
function isQuotedAt(bytes: Buffer, at: number, name: string): boolean {
  const quoted = Buffer.from(JSON.stringify(name));
  return bytes.subarray(at, at + quoted.length).equals(quoted);
}

function asObject(runs: readonly Buffer[]): Buffer[] {
  const pieces: Buffer[] = [OPEN_BRACE];
  for (const run of runs) {
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(run);
  }
  pieces.push(CLOSE_BRACE);
  return pieces;
}
