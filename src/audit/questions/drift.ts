/** Where the service departs from the contract, by meaning, each departure beside its figure in the run before. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { DRIFT_KINDS, type DriftKind } from "../../raw/drift.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { LISTED_VALUES, listedValuesCheck } from "../checks/inspect.ts";
import { vanished } from "../checks/mass-change.ts";
import { integer, rowsOf } from "../rows.ts";

/** `empty`: an API field without any value; `unlisted`: a value that the specification does not list. */
export type DriftLineKind = DriftKind | "empty" | "unlisted";

export interface DriftLine {
  /** API path where it is known, else table and column. */
  readonly path: string;
  readonly kind: DriftLineKind;
  readonly count: number;
  /** The count in the run before: 0 is new in this run; null: there is no run before. */
  readonly before: number | null;
  /** The first value, of a vanished field one of the run before; null where the policy forbids one. */
  readonly example: string | null;
  readonly exampleContentId: string | null;
}

export interface DriftReport {
  /** API fields that the specification does not know. */
  readonly newFields: readonly DriftLine[];
  /** API fields that had values in the run before and have none. */
  readonly vanishedFields: readonly DriftLine[];
  /** Values of another type than their column. */
  readonly changedTypes: readonly DriftLine[];
  /** Values that cannot be read, are not listed, or differ between two documents. */
  readonly outsideContract: readonly DriftLine[];
  /** What the personal-data policy and the redaction of the token did themselves: no departure of the service. */
  readonly policy: readonly DriftLine[];
}

/** The parts in the order of their weight, the policy's last. */
export const DRIFT_PARTS = [
  "newFields",
  "vanishedFields",
  "changedTypes",
  "outsideContract",
  "policy",
] as const satisfies readonly (keyof DriftReport)[];
export type DriftPart = (typeof DRIFT_PARTS)[number];

const PART_OF_KIND: Readonly<Record<DriftKind, DriftPart>> = {
  unknown_field: "newFields",
  type: "changedTypes",
  single_for_list: "changedTypes",
  unreadable: "outsideContract",
  rounded: "outsideContract",
  views_differ: "outsideContract",
  personal_dropped: "policy",
  personal_hashed: "policy",
  token_redacted: "policy",
};

type StatedRun = Pick<Manifest, "rows" | "emptyColumns">;

export interface DriftRequest {
  /** Has every table of the run under its name, and those of the run before under names that begin with `before_`. */
  readonly connection: DuckDBConnection;
  readonly now: StatedRun;
  /** Undefined: there is no run before, and no table of it. */
  readonly before: StatedRun | undefined;
}

/** Compares the drift of a run with that of the run before. What is new comes first, then what there is most of. */
export async function driftOf(request: DriftRequest): Promise<DriftReport> {
  const { connection, before } = request;
  const told = await notedDrift(request);
  const inPart = (part: DriftPart) =>
    told.filter(({ kind, count }) => count > 0 && part === PART_OF_KIND[kind]);
  const gone = told.filter(({ kind, count }) => count === 0 && kind === "unknown_field");
  return {
    newFields: inPart("newFields").sort(byWeight),
    vanishedFields: [...gone, ...(await emptied(request))].sort(byWeight),
    changedTypes: inPart("changedTypes").sort(byWeight),
    outsideContract: [
      ...inPart("outsideContract"),
      ...(await unlisted(connection, before !== undefined)),
    ].sort(byWeight),
    policy: inPart("policy").sort(byWeight),
  };
}

/** Whether a line is of this run and not of the one before. */
export function isNew({ before }: DriftLine): boolean {
  return before === 0;
}

function byWeight(a: DriftLine, b: DriftLine): number {
  return Number(isNew(b)) - Number(isNew(a)) || weightOf(b) - weightOf(a) || (a.path < b.path ? -1 : 1);
}

/** Of what is gone, what there was. */
function weightOf({ count, before }: DriftLine): number {
  return count > 0 ? count : (before ?? 0);
}

const notedLine = z.object({
  path: z.string(),
  kind: z.enum(DRIFT_KINDS),
  count: integer,
  before: integer.nullable(),
  example: z.string().nullable(),
  exampleContentId: z.string().nullable(),
});

/** Rows of `run_drift` of both runs. */
function notedDrift({ connection, before }: DriftRequest) {
  return rowsOf(
    connection,
    notedLine,
    before === undefined
      ? "SELECT *, NULL::BIGINT AS before FROM run_drift"
      : `SELECT path, kind, coalesce(n.count, 0) AS count, coalesce(b.count, 0) AS before,
           CASE WHEN n.path IS NULL THEN b.example ELSE n.example END AS example,
           CASE WHEN n.path IS NULL THEN b.example_content_id ELSE n.example_content_id END AS example_content_id
         FROM run_drift AS n FULL JOIN before_run_drift AS b USING (path, kind)`,
  );
}

/** Columns, and tables of lists, without any value that had some in the run before. */
async function emptied({ connection, now, before }: DriftRequest): Promise<DriftLine[]> {
  if (before === undefined) return [];
  const lines: DriftLine[] = [];
  for (const place of vanished(before, now)) {
    const [table = "", column] = splitPlace(place);
    const [row] = await rowsOf(connection, valuesBefore, valuesSql(table, column));
    lines.push({
      path: column === undefined ? place : await pathOf(connection, table, column),
      kind: "empty",
      count: 0,
      before: row?.count ?? 0,
      example: row?.example ?? null,
      exampleContentId: null,
    });
  }
  return lines;
}

/** `content.title`; a table alone has no column. */
function splitPlace(place: string): [table: string, column?: string] {
  const dot = place.indexOf(".");
  return dot < 0 ? [place] : [place.slice(0, dot), place.slice(dot + 1)];
}

const valuesBefore = z.object({ count: integer, example: z.string().nullable() });

function valuesSql(table: string, column: string | undefined): string {
  const from = quoteIdentifier(`before_${table}`);
  if (column === undefined) return `SELECT count(*) AS count, NULL::VARCHAR AS example FROM ${from}`;
  const name = quoteIdentifier(column);
  return `SELECT count(${name}) AS count, left(min(${name}::VARCHAR), ${EXAMPLE_LENGTH}) AS example FROM ${from}`;
}

const EXAMPLE_LENGTH = 200;

/** API field of a column; the column itself where it comes from none. */
async function pathOf(connection: DuckDBConnection, table: string, column: string): Promise<string> {
  const [row] = await rowsOf(
    connection,
    z.object({ path: z.string().nullable() }),
    "SELECT min(path) AS path FROM run_lineage WHERE table_name = $1 AND column_name = $2",
    [table, column],
  );
  return row?.path ?? `${table}.${column}`;
}

const checkRow = z.object({
  checkName: z.string(),
  figure: integer,
  detail: z.string().nullable(),
  before: integer.nullable(),
});

/** Columns with values that the specification does not list. */
async function unlisted(connection: DuckDBConnection, hasBefore: boolean): Promise<DriftLine[]> {
  const columns = new Map(
    LISTED_VALUES.map(([table, column]) => [listedValuesCheck(table, column), { table, column }]),
  );
  const rows = await rowsOf(
    connection,
    checkRow,
    hasBefore
      ? `SELECT n.check_name, n.figure, n.detail, coalesce(b.figure, 0) AS before
         FROM run_checks AS n LEFT JOIN before_run_checks AS b USING (check_name) WHERE n.verdict = 'warning'`
      : "SELECT check_name, figure, detail, NULL::BIGINT AS before FROM run_checks WHERE verdict = 'warning'",
  );
  const lines: DriftLine[] = [];
  for (const { checkName, figure, before, detail } of rows) {
    const found = columns.get(checkName);
    if (found === undefined) continue;
    const path = await pathOf(connection, found.table, found.column);
    lines.push({ path, kind: "unlisted", count: figure, before, example: detail, exampleContentId: null });
  }
  return lines;
}
