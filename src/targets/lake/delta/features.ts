/**
 * Finds tables that we cannot write: another program created them, or gave them an unsupported feature. The messages name
 * the table, the feature and the statements that remove it.
 */
import { WarehouseError } from "../../../common/errors.ts";
import { joinWords } from "../../../common/nearest.ts";
import { DELTA_TYPES, type DeltaTable, fieldsOf, INSTANCE } from "./metadata.ts";
import type { TableState } from "./state.ts";

/** Throws `target.refused` if we cannot write these columns to the table as its log demands. */
export function assertWritable(state: TableState | null, declared: Pick<DeltaTable, "columns">): void {
  const reason = blockingReason(state, declared);
  if (reason !== null) throw new WarehouseError("target.refused", reason);
}

/** Message of `assertWritable`; `null` if it would not throw. */
export function blockingReason(
  state: TableState | null,
  declared: Pick<DeltaTable, "columns">,
): string | null {
  if (state === null) return null;
  const uses = usesIn(state);
  const what = uses.length > 0 ? usesText(uses) : (otherPartitioning(state) ?? otherColumn(state, declared));
  return what && `The table ${state.table} of the lake ${what}.`;
}

/** Throws `target.refused` if reader version 1 is not enough to read the table. */
export function assertReadable(state: TableState): void {
  const { minReaderVersion, readerFeatures } = state.protocol;
  const isReadable =
    minReaderVersion <= FEATURES_READER &&
    (readerFeatures ?? []).every((name) => DORMANT.has(name)) &&
    !hasColumnMapping(state);
  if (isReadable) return;
  const what = usesText(usesIn(state));
  throw new WarehouseError("target.refused", `The table ${state.table} of the lake ${what}.`);
}

/** Highest versions that we know; from these on the protocol lists features by name. */
const FEATURES_READER = 3;
const FEATURES_WRITER = 7;

/** Features that may stay in the protocol: they bind writers only if properties or columns of the table use them. */
const DORMANT: ReadonlySet<string> = new Set([
  ...["appendOnly", "changeDataFeed", "checkConstraints", "allowColumnDefaults", "invariants"],
  ...["generatedColumns", "identityColumns", "columnMapping", "checkpointProtection"],
]);
const USED_BY_PROPERTIES = ["delta.appendOnly", "delta.enableChangeDataFeed"];
const DEFAULT_VALUE = "CURRENT_DEFAULT";
const USED_BY_COLUMNS = [
  DEFAULT_VALUE,
  "delta.invariants",
  "delta.generationExpression",
  "delta.identity.start",
];
/** Other features depend on this one, so it is dropped last. */
const DROPPED_LAST = "domainMetadata";

/** What is used, and the statement that removes it; `null` if none does. */
type FeatureUse = readonly [what: string, statement: string | null];

function usesIn(state: TableState): readonly FeatureUse[] {
  const { minReaderVersion, minWriterVersion, readerFeatures, writerFeatures } = state.protocol;
  const alter = `ALTER TABLE ${state.table}`;
  const dropped = (feature: string): FeatureUse => [feature, `${alter} DROP FEATURE ${feature}`];
  const properties = Object.entries(state.metaData.configuration).flatMap(([key, value]): FeatureUse[] => {
    const [, constraint] = /^delta\.constraints\.(.+)$/.exec(key) ?? [];
    if (constraint !== undefined)
      return [[`the constraint ${constraint}`, `${alter} DROP CONSTRAINT \`${constraint}\``]];
    if (!USED_BY_PROPERTIES.includes(key) || value?.toLowerCase() !== "true") return [];
    return [[`the property ${key}`, `${alter} SET TBLPROPERTIES ('${key}' = 'false')`]];
  });
  const columns = fieldsOf(state).flatMap(({ name, metadata }) =>
    USED_BY_COLUMNS.filter((mark) => Object.hasOwn(metadata, mark)).map((mark): FeatureUse => {
      const statement = mark === DEFAULT_VALUE ? `${alter} ALTER COLUMN ${name} DROP DEFAULT` : null;
      return [`${mark} on its column ${name}`, statement];
    }),
  );
  const others = [...new Set([...(readerFeatures ?? []), ...(writerFeatures ?? [])])]
    .filter((name) => !DORMANT.has(name))
    .toSorted((a, b) => Number(a === DROPPED_LAST) - Number(b === DROPPED_LAST));
  return [
    ...(minReaderVersion > FEATURES_READER ? [[`reader version ${minReaderVersion}`, null] as const] : []),
    ...(minWriterVersion > FEATURES_WRITER ? [[`writer version ${minWriterVersion}`, null] as const] : []),
    ...properties,
    ...columns,
    ...(hasColumnMapping(state) ? [dropped("columnMapping")] : []),
    ...others.map(dropped),
  ];
}

function hasColumnMapping({ metaData }: TableState): boolean {
  return (metaData.configuration["delta.columnMapping.mode"] ?? "none") !== "none";
}

const WAY_OUT = "deliver into another lake, or move this table out of it";

function usesText(uses: readonly FeatureUse[]): string {
  const names = uses.map(([what]) => what);
  const has = `has ${joinWords(names, "and")}, which this program cannot write`;
  const statements = uses.flatMap(([, statement]) => statement ?? []);
  if (statements.length < uses.length) return `${has}; ${WAY_OUT}`;
  return `${has}; remove it in Spark with ${statements.map((each) => `"${each}"`).join(", ")}, then deliver again`;
}

function otherPartitioning({ metaData: { partitionColumns } }: TableState): string | null {
  if (partitionColumns.join() === INSTANCE) return null;
  return `is partitioned by ${partitionColumns.join(", ") || "nothing"} instead of by ${INSTANCE}; ${WAY_OUT}`;
}

function otherColumn(state: TableState, { columns }: Pick<DeltaTable, "columns">): string | null {
  const fields = new Map(fieldsOf(state).map((each) => [each.name.toLowerCase(), each]));
  for (const { name, type } of columns) {
    const there = fields.get(name.toLowerCase());
    if (there === undefined || (there.name === name && there.type === DELTA_TYPES[type])) continue;
    const found = `${there.name} as ${typeof there.type === "string" ? there.type : JSON.stringify(there.type)}`;
    return `has the column ${found} where the run has ${name} as ${DELTA_TYPES[type]}, which cannot change; rename it in the pipeline, or deliver into another lake`;
  }
  return null;
}
