/** Files of staged parts and of raw documents: complete or not at all, for their owner alone. */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writevSync } from "node:fs";
import { dirname } from "node:path";
import { type Columns, readColumns } from "../parquet/read.ts";

/** Writes a Parquet file that comes in pieces, under a temporary name first. */
export function writePart(file: string, pieces: readonly Uint8Array[]): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.tmp`;
  const descriptor = openSync(temporary, "w", 0o600);
  try {
    writeAll(descriptor, pieces);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, file);
}

/** A system call takes so many pieces at once. */
const PIECES_AT_ONCE = 512;

/** The disk may take less than it was given. */
function writeAll(descriptor: number, pieces: readonly Uint8Array[]): void {
  let rest = pieces.filter((piece) => piece.length > 0);
  while (rest.length > 0) {
    let written = writevSync(descriptor, rest.slice(0, PIECES_AT_ONCE));
    let whole = 0;
    while (whole < rest.length && written >= (rest[whole]?.length ?? 0)) {
      written -= rest[whole]?.length ?? 0;
      whole += 1;
    }
    const begun = rest[whole];
    rest = begun === undefined ? [] : [begun.subarray(written), ...rest.slice(whole + 1)];
  }
}

export function readPart(file: string): Columns {
  return readColumns(readFileSync(file));
}
