/** The lines of a Delta log that we know; what else a line says is left out, as the protocol asks of readers. */
import { z } from "zod";

const texts = z.record(z.string(), z.string().nullable());
/** Writers spell what is not there as null or leave it out. */
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
  /** Of each commit of ours, `txnId` is unique: by it a writer finds its own. */
  commitInfo: z.looseObject({}).nullish(),
  add: add.nullish(),
  remove: remove.nullish(),
  metaData: metaData.nullish(),
  protocol: protocol.nullish(),
  txn: txn.nullish(),
});

/** Paths are as the log has them: encoded as a URI, relative to the table's folder. */
export type AddAction = Readonly<z.infer<typeof add>>;
export type RemoveAction = Readonly<z.infer<typeof remove>>;
export type MetaDataAction = Readonly<z.infer<typeof metaData>>;
export type ProtocolAction = Readonly<z.infer<typeof protocol>>;
/** One of its members is there, or none: an action that we do not know. */
export type DeltaAction = Readonly<z.infer<typeof action>>;

/** The actions of a commit, one on a line. Throws for what is none. */
export function parseActions(text: string): DeltaAction[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(parseAction);
}

/** Throws for what is no action. */
export function parseAction(line: string): DeltaAction {
  return action.parse(JSON.parse(line));
}

/** A commit as its file has it. */
export function commitText(actions: readonly object[]): string {
  return actions.map((each) => `${JSON.stringify(each)}\n`).join("");
}

/** A path as the log has it. */
export function encodePath(path: string): string {
  return encodeURI(path).replace(/[?#]/g, encodeURIComponent);
}

/** Metadata as the log has them: files of every table are Parquet. */
export function metaDataLine(metaData: MetaDataAction): object {
  return { metaData: { ...metaData, format: { provider: "parquet", options: {} } } };
}
