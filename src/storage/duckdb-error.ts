/** Describes errors of DuckDB. */
import { asWarehouseError, type ErrorCode, WarehouseError } from "../common/errors.ts";
import { printable } from "../common/printable.ts";

const FULL = /No space left|Disk quota|failed to offload/i;
const TOO_LARGE = /File too large/i;
const DISK = /Input\/output error|Could not (write|sync)|fsync failed/i;
/** The second form comes from a checkpoint that ran out of memory and invalidated the database. */
const MEMORY = /^Out of Memory Error|Original error: (failed to (pin|allocate)|could not allocate)/i;
/** A database that a failed write has invalidated. Without a reason it was the disk. */
const INVALIDATED = /database has been invalidated/i;
/** Errors whose text repeats a cell, which may hold personal data; only their kind is shown. */
const REPEATS_CELLS = /^(Conversion|Constraint|Invalid Input|Out of Range|Serialization) Error/;

/** Damaged database or Parquet files. These texts have no cells. */
const DAMAGE = /^(?:IO Error: (Corrupt database file)|Invalid Input Error: (Failed to read file .*))/;

const DENIED = /Cannot open file "(.*)": Permission denied/;

/**
 * Describes an error of DuckDB: `disk.full` or `disk.io` of the disk, `verify.failed` of a damaged file, `config.output` of
 * missing permission, else `internal`, also if memory is short.
 */
export function duckdbError(thrown: unknown): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const error = (code: ErrorCode, sentence: string) => new WarehouseError(code, sentence, { cause: thrown });
  const line = firstLine(thrown);
  const denied = DENIED.exec(line)?.[1];
  if (denied !== undefined) {
    const wayOut = "permission is denied; use an account that can read the whole warehouse";
    return error("config.output", `${denied} cannot be read: ${wayOut}.`);
  }
  const damage = DAMAGE.exec(line);
  if (damage !== null) {
    return error(
      "verify.failed",
      `A file is damaged (${damage[1] ?? damage[2]}); "content-warehouse verify" says which of a published run, and "content-warehouse runs rollback" makes another run current.`,
    );
  }
  const memory = MEMORY.test(line);
  if (FULL.test(line)) return error("disk.full", "The disk has no room for the database; free space.");
  if (TOO_LARGE.test(line))
    return error("disk.full", "A file of the database may not grow (EFBIG); raise its limit (ulimit -f).");
  if (DISK.test(line) || (INVALIDATED.test(line) && !memory))
    return error("disk.io", "The disk refused a write of the database; check the disk.");
  if (memory) return error("internal", "The database ran out of memory; give the run more memory.");
  return error("internal", `The database refused a step: ${REPEATS_CELLS.exec(line)?.[0] ?? line}.`);
}

export function firstLine(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return (text.split("\n", 1)[0] ?? "").replace(/\.$/, "");
}

/** The engine's message on a failed query, as a clause without the cells that it repeats, which may be personal. */
export function failureText(thrown: unknown): string {
  const { cause, message } = asWarehouseError(thrown);
  const [said = ""] = (cause instanceof Error ? cause.message : message).split("\n", 1);
  return printable(said.replace(/'[^']*'/g, "'…'"), 250).replace(/[.!]$/, "");
}
