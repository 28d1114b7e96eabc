/** The text of a raw document: what did not change is copied as it came, for to make it anew takes longer. */
import type { SentText } from "../extract/sent-text.ts";
import type { JsonObject } from "../transform/views.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The JSON text of a document, in UTF-8. `sent`: the text that it was parsed from. `changed`: names of its own members
 * that may have another value since then, or may be gone; none may have come. Without either the text is made anew.
 */
export function keptText(
  document: JsonObject,
  sent: SentText | undefined,
  changed: ReadonlySet<string> | undefined,
): Buffer {
  const runs = sent === undefined || changed === undefined ? undefined : runsOf(document, sent, changed);
  return runs === undefined ? Buffer.from(JSON.stringify(document)) : joined(runs);
}

/**
 * Members, one or several as they stand in the text. Undefined where they do not stand there in the order that the
 * parsed document has them in.
 */
function runsOf(document: JsonObject, sent: SentText, changed: ReadonlySet<string>): Buffer[] | undefined {
  const { bytes, marks, names } = sent;
  const runs: Buffer[] = [];
  let copied = 0;
  const copyUntil = (member: number): void => {
    if (member > copied) runs.push(bytes.subarray((marks[copied] ?? 0) + 1, marks[member]));
  };
  for (const [member, name] of names.entries()) {
    if (!changed.has(name)) continue;
    if (!isNamed(bytes, (marks[member] ?? 0) + 1, name)) return undefined;
    copyUntil(member);
    copied = member + 1;
    if (!Object.hasOwn(document, name)) continue;
    runs.push(Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(document[name])}`));
  }
  copyUntil(names.length);
  return runs;
}

/** Whether the member that begins at `from`, or after white space, has this name. */
function isNamed(bytes: Buffer, from: number, name: string): boolean {
  const quoted = Buffer.from(JSON.stringify(name));
  const at = bytes.indexOf(QUOTE, from);
  return bytes.subarray(at, at + quoted.length).equals(quoted);
}

function joined(runs: readonly Buffer[]): Buffer {
  const length = runs.reduce((sum, run) => sum + run.length + 1, 0);
  const text = Buffer.allocUnsafe(Math.max(length, 1) + 1);
  let at = 0;
  text[0] = OPEN_BRACE;
  for (const run of runs) {
    if (at > 0) text[at] = COMMA;
    at += 1;
    at += run.copy(text, at);
  }
  text[text.length - 1] = CLOSE_BRACE;
  return text;
}
