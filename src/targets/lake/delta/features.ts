/**
 * Finds tables that we cannot write: another program created them, or gave them an unsupported feature. The messages name
 * the table, the feature and the statements that remove it.
 */
import { WarehouseError } from "../../../common/errors.ts";
import { joinWords } from "../../../common/nearest.ts";
import {
  DELTA_TYPES,
  type DeltaColumn,
  type DeltaField,
  type DeltaTable,
  fieldsOf,
  INSTANCE,
} from "./schema.ts";
import type { TableState } from "./state.ts";

/** Throws `target.refused` if we cannot write these columns to the table as its log demands. */
export function assertWritable(state: TableState | null, declared: Pick<DeltaTable, "columns">): void {
  if (state === null) return;
  const uses = usesIn(state);
  if (uses.length > 0) throw blockedTable(state.table, usesText(uses));
  assertPartitioned(state);
  const fields = new Map(fieldsOf(state).map((each) => [each.name.toLowerCase(), each]));
  for (const column of declared.columns) {
    const there = fields.get(column.name.toLowerCase());
    if (there !== undefined) assertSameColumn(state.table, there, column);
  }
}

/** Message of `assertWritable`; `null` if it would not throw. */
export function blockingReason(
  state: TableState | null,
  declared: Pick<DeltaTable, "columns">,
): string | null {
  try {
    assertWritable(state, declared);
    return null;
  } catch (thrown) {
    return thrown instanceof WarehouseError ? thrown.message : null;
  }
}

/** Throws `target.refused` if reader version 1 is not enough to read the table. */
export function assertReadable(state: TableState): void {
  const { minReaderVersion, readerFeatures } = state.protocol;
  const others = (readerFeatures ?? []).filter((name) => !Object.hasOwn(USES, name));
  const isKnown = minReaderVersion <= FEATURES_READER && others.length === 0;
  if (!isKnown || USES.columnMapping(state).length > 0)
    throw blockedTable(state.table, usesText(usesIn(state)));
}

function blockedTable(table: string, what: string): WarehouseError {
  return new WarehouseError("target.refused", `The table ${table} of the lake ${what}.`);
}

/** Highest versions that we know; from these on the protocol lists features by name. */
const FEATURES_READER = 3;
const FEATURES_WRITER = 7;

/** A use of a feature or of a table property, with the SQL statement that removes it; `null` if none does. */
interface FeatureUse {
  readonly what: string;
  readonly statement: string | null;
}

function usesIn(state: TableState): readonly FeatureUse[] {
  const { table, protocol } = state;
  const { minReaderVersion, minWriterVersion, readerFeatures, writerFeatures } = protocol;
  const later = [
    ...(minReaderVersion > FEATURES_READER ? [`reader version ${minReaderVersion}`] : []),
    ...(minWriterVersion > FEATURES_WRITER ? [`writer version ${minWriterVersion}`] : []),
  ];
  const others = new Set([...(readerFeatures ?? []), ...(writerFeatures ?? [])]);
  const dropped = [...others].filter((name) => !Object.hasOwn(USES, name)).toSorted(inOrderOfDropping);
  return [
    ...later.map((what) => ({ what, statement: null })),
    ...Object.values(USES).flatMap((uses) => uses(state)),
    ...dropped.map((name) => dropping(table, name)),
  ];
}

/** Other features depend on `domainMetadata`, so it is dropped last. */
function inOrderOfDropping(a: string, b: string): number {
  const last = "domainMetadata";
  return a === last ? 1 : b === last ? -1 : a < b ? -1 : 1;
}

function dropping(table: string, feature: string): FeatureUse {
  return { what: feature, statement: `ALTER TABLE ${table} DROP FEATURE ${feature}` };
}

/** Finds the uses of features that may stay in the protocol: they bind writers only if the table uses them. */
const USES = {
  appendOnly: (state) => property(state, "delta.appendOnly"),
  changeDataFeed: (state) => property(state, "delta.enableChangeDataFeed"),
  checkConstraints: ({ table, metaData }) =>
    Object.keys(metaData.configuration).flatMap((key) => {
      const [, name] = /^delta\.constraints\.(.+)$/.exec(key) ?? [];
      if (name === undefined) return [];
      const statement = `ALTER TABLE ${table} DROP CONSTRAINT ${/^\w+$/.test(name) ? name : `\`${name}\``}`;
      return [{ what: `the constraint ${name}`, statement }];
    }),
  allowColumnDefaults: (state) =>
    columnsWith(state, "CURRENT_DEFAULT").map(({ what, column }) => ({
      what,
      statement: `ALTER TABLE ${state.table} ALTER COLUMN ${column} DROP DEFAULT`,
    })),
  invariants: (state) => withoutStatement(state, "delta.invariants"),
  generatedColumns: (state) => withoutStatement(state, "delta.generationExpression"),
  identityColumns: (state) => withoutStatement(state, "delta.identity.start"),
  columnMapping: ({ table, metaData }) => {
    const mode = metaData.configuration["delta.columnMapping.mode"] ?? "none";
    return mode === "none" ? [] : [dropping(table, "columnMapping")];
  },
  /** Protects the log before a version, see {@link protectedBefore}. */
  checkpointProtection: () => [],
} satisfies Readonly<Record<string, (state: TableState) => readonly FeatureUse[]>>;

/** First version that `checkpointProtection` does not protect: earlier versions may only be removed all together. */
export function protectedBefore({ metaData }: TableState): number {
  return Number(metaData.configuration["delta.requireCheckpointProtectionBeforeVersion"] ?? 0);
}

function property({ table, metaData }: TableState, name: string): FeatureUse[] {
  if (metaData.configuration[name]?.toLowerCase() !== "true") return [];
  const statement = `ALTER TABLE ${table} SET TBLPROPERTIES ('${name}' = 'false')`;
  return [{ what: `the property ${name}`, statement }];
}

/** Columns with this key in their metadata. */
function columnsWith(state: TableState, mark: string) {
  return fieldsOf(state)
    .filter(({ metadata }) => Object.hasOwn(metadata, mark))
    .map(({ name }) => ({ what: `${mark} on its column ${name}`, column: name }));
}

function withoutStatement(state: TableState, mark: string): FeatureUse[] {
  return columnsWith(state, mark).map(({ what }) => ({ what, statement: null }));
}

const WAY_OUT = "deliver into another lake, or move this table out of it";

function usesText(uses: readonly FeatureUse[]): string {
  const names = uses.map(({ what }) => what);
  const has = `has ${joinWords(names, "and")}, which this program cannot write`;
  const statements = uses.flatMap(({ statement }) => statement ?? []);
  if (statements.length < uses.length) return `${has}; ${WAY_OUT}`;
  return `${has}; remove it in Spark with ${statements.map((each) => `"${each}"`).join(", ")}, then deliver again`;
}

function assertPartitioned({ table, metaData: { partitionColumns } }: TableState): void {
  if (partitionColumns.length === 1 && partitionColumns[0] === INSTANCE) return;
  const by =
    partitionColumns.length === 0 ? "not partitioned" : `partitioned by ${partitionColumns.join(", ")}`;
  throw blockedTable(table, `is ${by} instead of by ${INSTANCE}; ${WAY_OUT}`);
}

function assertSameColumn(table: string, there: DeltaField, column: DeltaColumn): void {
  if (there.name !== column.name) {
    throw blockedTable(table, `has a column ${there.name} where the run has ${column.name}; ${WAY_OUT}`);
  }
  const type = DELTA_TYPES[column.type];
  if (there.type === type) return;
  const found = typeof there.type === "string" ? there.type : JSON.stringify(there.type);
  throw blockedTable(
    table,
    `has the column ${column.name} as ${found} where the run has ${type}, and the type of a column cannot change; rename it in the pipeline, or deliver into another lake`,
  );
}
