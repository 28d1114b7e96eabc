/** Actions of a Delta log, of which a commit has one on each line. Fields that we do not know are left out. */
import { z } from "zod";
import { parseIfJson } from "../../../common/json.ts";

const texts = z.record(z.string(), z.string().nullable());
/** Some writers write `null` for a missing value, and some leave it out. */
const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? null);
/** Relative to the table's folder, encoded as a URI. Parsing throws a URIError if it is not. */
const path = z.string().refine((encoded) => decodeURIComponent(encoded) !== "");

const add = z.object({
  path,
  partitionValues: texts,
  size: z.int(),
  modificationTime: z.int(),
  stats: orNull(z.string()),
  tags: orNull(texts),
});

const remove = z.object({
  path,
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

const action = z.object({
  /** Each of our commits has a unique `txnId`, by which its writer recognizes it. */
  commitInfo: z.looseObject({}).nullish(),
  add: add.nullish(),
  remove: remove.nullish(),
  metaData: metaData.nullish(),
  protocol: protocol.nullish(),
  txn: z.object({ appId: z.string(), version: z.int(), lastUpdated: orNull(z.int()) }).nullish(),
});

export type AddAction = Readonly<z.infer<typeof add>>;
export type MetaDataAction = Readonly<z.infer<typeof metaData>>;
/** At most one member is set; none is set for an action that we do not know. */
export type DeltaAction = Readonly<z.infer<typeof action>>;

export function parseAction(line: string): DeltaAction {
  return action.parse(JSON.parse(line));
}

/** The text of a commit. */
export function commitText(actions: readonly object[]): string {
  return actions.map((each) => `${JSON.stringify(each)}\n`).join("");
}

export function metaDataLine(metaData: MetaDataAction): object {
  return { metaData: { ...metaData, format: { provider: "parquet", options: {} } } };
}

const statistics = z.object({ numRecords: z.int().nonnegative() });

/** Number of rows of a file; `null` if its `add` does not say. */
export function recordsOf({ stats }: Pick<AddAction, "stats">): number | null {
  return statistics.safeParse(parseIfJson(stats ?? "")).data?.numRecords ?? null;
}
