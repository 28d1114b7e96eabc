/** What extraction decided and the raw documents do not say: `raw/extract.json`, whose keys and IDs are sorted. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { compareUtf8 } from "../common/utf8-order.ts";

export const EXTRACT_FILE = "extract.json";

const VERSION = 1;

const ids = z.array(z.string());

const extractRecord = z.strictObject({
  version: z.literal(VERSION),
  /** When the last answer was there. */
  extractedAt: z.iso.datetime({ precision: 3 }),
  verdict: z.enum(["complete", "unsettled"]),
  /** Why the run is unsettled, in sentences; empty: it is complete. */
  disagreements: z.array(z.string()),
  /** Items that were listed and are gone, by the word of a single-item request. Their documents do not count. */
  vanished: ids,
  /** Items of the run before that no pass listed, and that are gone by such a word. Nor do documents of theirs count. */
  removed: ids,
  /** Items of which some answer could not be read. */
  rejected: ids,
  /** Whether something was listed that has no ID. */
  rejectedWithoutId: z.boolean(),
  /** By pass: bytes that an item takes on each page of a listing, from the first on. They decide where large tables are cut. */
  bytesPerItem: z.record(z.string(), z.array(z.number().nonnegative())),
});

export type ExtractRecord = Readonly<z.infer<typeof extractRecord>>;

/** Writes the file, for its owner alone. Gives what stands in it. */
export async function writeExtractRecord(
  file: string,
  record: Omit<ExtractRecord, "version">,
): Promise<ExtractRecord> {
  const whole: ExtractRecord = {
    ...record,
    version: VERSION,
    vanished: sorted(record.vanished),
    removed: sorted(record.removed),
    rejected: sorted(record.rejected),
  };
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const keys = Object.entries(whole).sort(([a], [b]) => compareUtf8(a, b));
  await writeFile(file, `${JSON.stringify(Object.fromEntries(keys))}\n`, { mode: 0o600 });
  return whole;
}

/** Ascending by UTF-8 bytes, each once. */
function sorted(list: readonly string[]): string[] {
  return [...new Set(list)].sort(compareUtf8);
}

/** Throws `config.newer_version` for the file of a newer program, `verify.failed` where it is damaged. */
export async function readExtractRecord(file: string): Promise<ExtractRecord> {
  const value = parsed(await readFile(file, "utf8"));
  const newer = z.looseObject({ version: z.number().gt(VERSION) }).safeParse(value).success;
  if (newer) {
    throw new WarehouseError(
      "config.newer_version",
      `${file} was written by a newer version of content-warehouse; read it with that version.`,
    );
  }
  const record = extractRecord.safeParse(value);
  if (record.success) return record.data;
  throw new WarehouseError("verify.failed", `${file} does not say what was extracted: it is damaged.`);
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
