/**
 * Actions of a Delta log, of which a commit has one on each line, and the state of a table that they make. Fields that we do
 * not know are left out.
 */
import { z } from "zod";
import { parseIfJson } from "../../../common/json.ts";
import { relativePath } from "../../../common/relative-path.ts";

const texts = z.record(z.string(), z.string().nullable());
/** Some writers write `null` for a missing value, and some leave it out. */
const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? null);
/** Relative to the table's folder, encoded as a URI. Parsing throws a URIError if it is not. */
const path = relativePath(decodeURIComponent);

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

type AddAction = Readonly<z.infer<typeof add>>;
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

/** A data file that readers of the version see. */
export interface ActiveFile {
  /** Relative to the table's folder, decoded. */
  readonly path: string;
  /** Value of the partition column `instance`. */
  readonly instance: string | null;
  readonly add: AddAction;
}

/** A data file that only readers of earlier versions see. */
interface Tombstone {
  /** Relative to the table's folder, decoded. */
  readonly path: string;
  /** Milliseconds since 1970; 0 if unknown. */
  readonly removedMs: number;
  readonly remove: NonNullable<DeltaAction["remove"]>;
}

/** The last `txn` of an application. */
interface Transaction {
  /** Number of the last delivery that committed to the table. */
  readonly number: number;
  readonly lastUpdatedMs: number | null;
}

export interface TableState {
  readonly table: string;
  readonly version: number;
  readonly protocol: NonNullable<DeltaAction["protocol"]>;
  readonly metaData: MetaDataAction;
  /** By path as the log has it. */
  readonly files: ReadonlyMap<string, ActiveFile>;
  /** By path as the log has it. A checkpoint names those of the last seven days at least. */
  readonly removed: ReadonlyMap<string, Tombstone>;
  /** By application, which is the name of an instance. */
  readonly transactions: ReadonlyMap<string, Transaction>;
}

/** Active files of an instance. */
export function activeFiles(state: TableState | null, instance: string): readonly ActiveFile[] {
  return [...(state?.files.values() ?? [])].filter((file) => file.instance === instance);
}

/** Number of the instance's last delivery that committed to the table; 0 if none did. */
export function deliveryNumber(state: TableState | null, instance: string): number {
  return state?.transactions.get(instance)?.number ?? 0;
}

/** A state that grows version by version, from a copy of `from`, or from nothing. */
export function newReplay(table: string, from?: TableState) {
  return {
    table,
    version: from?.version ?? -1,
    protocol: from?.protocol ?? null,
    metaData: from?.metaData ?? null,
    files: new Map<string, ActiveFile>(from?.files),
    removed: new Map<string, Tombstone>(from?.removed),
    transactions: new Map<string, Transaction>(from?.transactions),
  };
}

export function applyCommit(
  replay: ReturnType<typeof newReplay>,
  version: number,
  actions: readonly DeltaAction[],
): void {
  replay.version = version;
  const { files, removed, transactions } = replay;
  for (const { add, remove, metaData, protocol, txn } of actions) {
    if (add) {
      const instance = add.partitionValues.instance ?? null;
      removed.delete(add.path);
      files.set(add.path, { path: decodeURIComponent(add.path), instance, add });
    }
    if (remove) {
      const removedMs = remove.deletionTimestamp ?? 0;
      files.delete(remove.path);
      removed.set(remove.path, { path: decodeURIComponent(remove.path), removedMs, remove });
    }
    if (metaData) replay.metaData = metaData;
    if (protocol) replay.protocol = protocol;
    if (txn) transactions.set(txn.appId, { number: txn.version, lastUpdatedMs: txn.lastUpdated });
  }
}
