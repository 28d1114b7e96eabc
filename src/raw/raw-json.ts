/** Serializes raw documents. Members that did not change are copied from the response, which is faster. */
import type { JsonObject } from "../common/json.ts";

/** The text of a document as received. `JSON.stringify` could have written it, but for white space and numbers. */
export interface SourceText {
  /** The whole page. */
  readonly bytes: Buffer;
  /** Positions of the brace before the first member and of the byte after each member. */
  readonly marks: readonly number[];
  /** Names of the top-level members, in the order of the text. */
  readonly names: readonly string[];
}

const QUOTE = 0x22;
const COMMA = Buffer.from(",");
const OPEN_BRACE = Buffer.from("{");
const CLOSE_BRACE = Buffer.from("}");

const NO_MEMBERS: ReadonlyMap<string, Buffer> = new Map();

/**
 * The JSON text of a document in UTF-8. Some pieces belong to the buffer of `source`. `changed`: names of top-level members
 * that may have another value or be gone; no member may be new. Without `source` or `changed` the whole document is
 * serialized. `members`: texts of changed members that are known already.
 */
export function serializeDocument(
  document: JsonObject,
  source: SourceText | undefined,
  changed: ReadonlySet<string> | undefined,
  members: ReadonlyMap<string, Buffer> = NO_MEMBERS,
): readonly Buffer[] {
  const runs =
    source === undefined || changed === undefined ? undefined : runsOf(document, source, changed, members);
  return runs === undefined ? [Buffer.from(JSON.stringify(document))] : asObject(runs);
}

/** Runs of members as they stand in the text; `undefined` if the text has another order than `source` says. */
function runsOf(
  document: JsonObject,
  source: SourceText,
  changed: ReadonlySet<string>,
  members: ReadonlyMap<string, Buffer>,
): Buffer[] | undefined {
  const { bytes, marks, names } = source;
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
    const text = members.get(name);
    runs.push(text ?? Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(document[name])}`));
  }
  copyUntil(names.length);
  return runs;
}

/** Whether the member that begins at `from`, after white space, has this name. */
function isNamed(bytes: Buffer, from: number, name: string): boolean {
  const at = bytes.indexOf(QUOTE, from);
  const quoted = JSON.stringify(name);
  return bytes.toString("utf8", at, at + Buffer.byteLength(quoted)) === quoted;
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
