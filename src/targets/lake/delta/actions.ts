/** Actions of a Delta log, of which a commit has one on each line. Fields that we do not know are left out. */
import { z } from "zod";
import { parseIfJson } from "../../../common/json.ts";

const texts = z.record(z.string(), z.string().nullable());
/** Some writers write `null` for a missing value, and some leave it out. */
const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? null);

const add = z.object({
  path: z.string(),
  partitionValues: texts,
  size: z.int(),
  modificationTime: z.int(),
  stats: orNull(z.string()),
  tags: orNull(texts),
});

const remove = z.object({
  path: z.string(),
  deletionTimestamp: orNull(z.int()),
  partitionValues: orNull(texts),
  size: orNull(z.int()),
});

const metaData = z.object({
  id: z.string(),
  name: orNull(z.string()),
  description: orNull(z.string()),
  schemaString: z.string(),
  partitionColumns: z.array(z.string()),
  configuration: orNull(texts).transform((value) => value ?? {}),
  createdTime: orNull(z.int()),
});

const protocol = z.object({
  minReaderVersion: z.int(),
  minWriterVersion: z.int(),
  readerFeatures: orNull(z.array(z.string())),
  writerFeatures: orNull(z.array(z.string())),
});

const txn = z.object({ appId: z.string(), version: z.int(), lastUpdated: orNull(z.int()) });

const action = z.object({
  /** Each of our commits has a unique `txnId`, by which its writer recognizes it. */
  commitInfo: z.looseObject({}).nullish(),
  add: add.nullish(),
  remove: remove.nullish(),
  metaData: metaData.nullish(),
  protocol: protocol.nullish(),
  txn: txn.nullish(),
});

/** `path` is as the log has it: encoded as a URI, relative to the table's folder. */
export type AddAction = Readonly<z.infer<typeof add>>;
export type RemoveAction = Readonly<z.infer<typeof remove>>;
export type MetaDataAction = Readonly<z.infer<typeof metaData>>;
export type ProtocolAction = Readonly<z.infer<typeof protocol>>;
/** At most one member is set; none is set for an action that we do not know. */
export type DeltaAction = Readonly<z.infer<typeof action>>;

/** Parses a commit. Throws if a line is not an action. */
export function parseActions(text: string): DeltaAction[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map(parseAction);
}

export function parseAction(line: string): DeltaAction {
  return action.parse(JSON.parse(line));
}

/** The text of a commit. */
export function commitText(actions: readonly object[]): string {
  return actions.map((each) => `${JSON.stringify(each)}\n`).join("");
}

export function encodePath(path: string): string {
  return encodeURI(path).replace(/[?#]/g, encodeURIComponent);
}

export function metaDataLine(metaData: MetaDataAction): object {
  return { metaData: { ...metaData, format: { provider: "parquet", options: {} } } };
}

export interface FileStatistics {
  readonly rows: number;
  /** Bounds of a column without NULLs, both inclusive; `null` if unknown. */
  readonly bounds: {
    readonly column: string;
    readonly min: string | number;
    readonly max: string | number;
  } | null;
}

/** Statistics as the JSON text of an `add`. */
export function statisticsText({ rows, bounds }: FileStatistics): string {
  if (bounds === null) return JSON.stringify({ numRecords: rows });
  const { column, min, max } = bounds;
  return JSON.stringify({
    numRecords: rows,
    minValues: { [column]: min },
    maxValues: { [column]: max },
    nullCount: { [column]: 0 },
  });
}

const statistics = z.object({ numRecords: z.int().nonnegative() });

/** Number of rows of a file; `null` if its `add` does not say. */
export function recordsOf({ stats }: Pick<AddAction, "stats">): number | null {
  return statistics.safeParse(parseIfJson(stats ?? "")).data?.numRecords ?? null;
}
