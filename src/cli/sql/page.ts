/** The first rows of an answer, for a reader who takes so many bytes: what is too long is told in the place of a row. */
import { count, fileSize } from "../../common/figures.ts";
import { objectOf, type RowStream } from "../../show/rows.ts";

export interface PageLimits {
  readonly maxRows: number;
  /** Of the whole text. */
  readonly maxBytes: number;
}

/** Rows as JSON, and sentences about those that are too long to be among them, as JSON too. */
interface Page {
  readonly isWhole: boolean;
  readonly rows: readonly string[];
  readonly leftOut: readonly string[];
}

const SEPARATOR = ",\n";
/** What stands around rows and sentences at the most. */
const FRAME_BYTES = pageJson({ isWhole: false, rows: [""], leftOut: [""] }).length;

/**
 * `{"whole":…,"rows":[…],"left_out":[…]}`, each row on a line of its own. A row that is longer than the page is left out,
 * with a sentence that says so; the page ends at one that finds no more room.
 */
export async function* pageTexts(answer: RowStream, limits: PageLimits): AsyncIterable<string> {
  yield pageJson(await pageOf(answer, limits));
}

async function pageOf(answer: RowStream, { maxRows, maxBytes }: PageLimits): Promise<Page> {
  const object = objectOf(answer);
  const rows: string[] = [];
  const leftOut: string[] = [];
  let room = maxBytes - FRAME_BYTES;
  for await (const chunk of answer.chunks) {
    for (const cells of chunk) {
      const number = rows.length + leftOut.length + 1;
      const row = object(cells);
      const bytes = Buffer.byteLength(row);
      const isTooLong = bytes > maxBytes - FRAME_BYTES;
      const text = isTooLong ? JSON.stringify(tooLong({ number, bytes, maxBytes })) : row;
      room -= Buffer.byteLength(text);
      if (number > maxRows || room < 0) return { isWhole: false, rows, leftOut };
      room -= SEPARATOR.length;
      (isTooLong ? leftOut : rows).push(text);
    }
  }
  return { isWhole: leftOut.length === 0, rows, leftOut };
}

type LongRow = Readonly<Record<"number" | "bytes" | "maxBytes", number>>;

function tooLong({ number, bytes, maxBytes }: LongRow): string {
  return `row ${number} has ${fileSize(bytes)}, more than the ${count(maxBytes)} bytes of an answer: name its columns`;
}

function pageJson({ isWhole, rows, leftOut }: Page): string {
  const list = (texts: readonly string[]) => (texts.length === 0 ? "[]" : `[\n${texts.join(SEPARATOR)}\n]`);
  const others = leftOut.length === 0 ? "" : `,"left_out":${list(leftOut)}`;
  return `{"whole":${isWhole},"rows":${list(rows)}${others}}`;
}
