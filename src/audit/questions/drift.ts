/** Reports drift: where the service departs from the contract, compared with the run before. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { pluralize } from "../../common/figures.ts";
import { DRIFT_KINDS } from "../../raw/drift.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { mayShow } from "../../warehouse/baseline.ts";
import { previousOf } from "../../warehouse/identity.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { listRuns } from "../../warehouse/retention.ts";
import { findVanished } from "../checks/publish-gates.ts";
import { LISTED_VALUES_CHECK } from "../checks/table-checks.ts";
import { findReadableRun, type RunQuestion, type RunSelection } from "../open-run.ts";

const required = { required: true } as const;

const LINE = {
  /** API path if known, otherwise table and column. */
  path: col.text({ ...required, head: "field" }),
  /** `empty`: an API field without any value; `unlisted`: a value that the specification does not list. */
  kind: col.text({ ...required, of: [...DRIFT_KINDS, "empty", "unlisted"] }),
  count: col.count(required),
  /** Items that show it; null: unknown. */
  items: col.count(),
  /** Count in the run before. 0: new in this run; null: no run before. */
  before: col.count(),
  /** First value; of a vanished field, one of the run before. Null if a policy forbids it. */
  example: col.text(),
  exampleContentId: col.text({ head: "item" }),
} as const;
export type DriftLine = AnswerRow<typeof LINE>;

/** Sections of the report, the most important first. */
const TITLES = {
  newFields: "New fields (not in the specification)",
  vanishedFields: "Vanished fields (no value any more)",
  changedTypes: "Changed types",
  outsideContract: "Values outside the contract",
  contradictions: "Answers that contradict each other",
  /** Work of the policy and of the token's redaction; no drift of the service, so it is shown by itself. */
  policy: "Done by the personal-data policy",
} as const;
export type DriftPart = keyof typeof TITLES;
export const DRIFT_PARTS = Object.keys(TITLES) as readonly DriftPart[];

export type DriftReport = Readonly<Record<DriftPart, readonly DriftLine[]>>;

/** Name of the section that lists what the policy did. */
export const PERSONAL_SECTION = "personal-data";

/** Section and meaning of each kind. */
const KINDS: Readonly<Record<DriftLine["kind"], readonly [part: DriftPart, meaning: string]>> = {
  unknown_field: ["newFields", ""],
  empty: ["vanishedFields", ""],
  type: ["changedTypes", "another type"],
  single_for_list: ["changedTypes", "one value in place of a list"],
  unreadable: ["outsideContract", "not readable as its type"],
  rounded: ["outsideContract", "more digits than its type holds"],
  instant_form: ["outsideContract", "an instant in another form, stored in UTC"],
  views_differ: ["contradictions", "two answers differ"],
  versions_differ: ["contradictions", "answers of two versions"],
  unlisted: ["outsideContract", "not a listed value"],
  personal_dropped: ["policy", "dropped"],
  personal_hashed: ["policy", "hashed"],
  token_redacted: ["policy", "token redacted"],
  field_type: ["outsideContract", "not readable as the custom field's type"],
};

interface DriftRequest {
  /** Has all tables of the run, and those of the run before as `before_*`. */
  readonly connection: DuckDBConnection;
  readonly now: Pick<Manifest, "rows" | "emptyColumns">;
  /** Undefined: no run before. */
  readonly before: Pick<Manifest, "rows" | "emptyColumns" | "columns"> | undefined;
  /** Whether values of the run before may be shown. */
  readonly showsBefore: boolean;
}

/** Compares the drift of two runs. New drift comes first, then the largest. */
export async function driftOf(request: DriftRequest): Promise<DriftReport> {
  const lines = [
    ...(await readDriftRows(request)),
    ...(await readEmptied(request)),
    ...(await readUnlistedValues(request)),
  ];
  const weight = ({ count, before }: DriftLine) => (count > 0 ? count : (before ?? 0));
  lines.sort(
    (a, b) =>
      Number(isNewDrift(b)) - Number(isNewDrift(a)) || weight(b) - weight(a) || (a.path < b.path ? -1 : 1),
  );
  const parts = DRIFT_PARTS.map((part) => {
    // Drift of the run before that is gone is shown only of fields.
    const isOf = ({ kind, count }: DriftLine) =>
      count > 0 || kind === "empty"
        ? KINDS[kind][0] === part
        : kind === "unknown_field" && part === "vanishedFields";
    return [part, lines.filter(isOf)];
  });
  return Object.fromEntries(parts) as DriftReport;
}

export function isNewDrift({ before }: DriftLine): boolean {
  return before === 0;
}

function readDriftRows({ connection, before, showsBefore }: DriftRequest): Promise<DriftLine[]> {
  return readRows(
    connection,
    LINE,
    before === undefined
      ? `SELECT *, NULL::BIGINT AS before FROM run_drift`
      : `SELECT path, kind, coalesce(n.count, 0) AS count, n.items, coalesce(b.count, 0) AS before,
           CASE WHEN n.path IS NOT NULL THEN n.example WHEN ${showsBefore} THEN b.example END AS example,
           CASE WHEN n.path IS NOT NULL THEN n.example_content_id
             WHEN ${showsBefore} THEN b.example_content_id END AS example_content_id
         FROM run_drift AS n FULL JOIN before_run_drift AS b USING (path, kind)`,
  );
}

/** Columns and lists that had values in the run before and have none now. Derived columns are skipped. */
async function readEmptied({ connection, now, before, showsBefore }: DriftRequest): Promise<DriftLine[]> {
  if (before === undefined) return [];
  const lines: DriftLine[] = [];
  for (const place of findVanished(before, now)) {
    const [, table = "", column] = /^([^.]+)(?:\.(.+))?$/s.exec(place) ?? [];
    const [origin] =
      column === undefined
        ? [{ path: place }]
        : await readRows(connection, { path: LINE.path }, PATHS, [table, column]);
    if (origin === undefined) continue;
    const name = column === undefined ? undefined : quoteIdentifier(column);
    const [row] = await readRows(
      connection,
      VALUES_BEFORE,
      `SELECT count(${name ?? "*"}) AS count, left(min(${name ?? "NULL"}::VARCHAR), ${EXAMPLE_LENGTH}) AS example
       FROM ${quoteIdentifier(`before_${table}`)}`,
    );
    lines.push({
      path: origin.path,
      kind: "empty",
      count: 0,
      items: null,
      before: row?.count ?? 0,
      example: (showsBefore && row?.example) || null,
      exampleContentId: null,
    });
  }
  return lines;
}

const VALUES_BEFORE = { count: LINE.count, example: LINE.example } as const;

const EXAMPLE_LENGTH = 200;

/** API fields of a column; none of a derived column. */
const PATHS = "SELECT path FROM run_lineage WHERE table_name = $1 AND column_name = $2 ORDER BY path";

/** Columns with values that the specification does not list. */
async function readUnlistedValues({ connection, before }: DriftRequest): Promise<DriftLine[]> {
  const columns = { ...VALUES_BEFORE, before: LINE.before, path: LINE.path } as const;
  const [figureBefore, join] =
    before === undefined
      ? ["NULL::BIGINT", ""]
      : ["coalesce(b.figure, 0)", "LEFT JOIN before_run_checks AS b USING (check_name)"];
  const rows = await readRows(
    connection,
    columns,
    `SELECT any_value(figure) AS count, any_value(detail) AS example, any_value(before) AS before,
       coalesce(min(path), place) AS path
     FROM (
       SELECT n.*, ${figureBefore} AS before,
         regexp_extract(check_name, '^(\\S+)${LISTED_VALUES_CHECK}$', 1) AS place
       FROM run_checks AS n ${join}
     ) LEFT JOIN run_lineage ON place = concat(table_name, '.', column_name)
     WHERE verdict = 'warning' AND place <> '' GROUP BY place`,
  );
  return rows.map((row) => ({ ...row, items: null, kind: "unlisted", exampleContentId: null }));
}

/**
 * Compares a run, by name or number, with the one that was current when it began: what the policy did, or all other drift
 * and the number of fields that the policy treated. Throws `answer.nothing` for a run that
 * does not exist, `verify.failed` for one that cannot be read.
 */
export function driftQuestion(
  wanted: string,
  asked: "drift" | typeof PERSONAL_SECTION,
): RunQuestion<RunSelection & { readonly missing?: string | undefined }> {
  return {
    async choose(folder) {
      const { run, manifest } = await findReadableRun(folder, wanted);
      const chosen = { wanted, anyPipeline: true };
      if (manifest.previousRun === null) {
        const missing = `${run} is the first run of this warehouse, so there is nothing to compare it with.`;
        return { ...chosen, missing };
      }
      const before = previousOf(manifest, await listRuns(folder));
      if (before !== undefined && !(before.manifest instanceof WarehouseError))
        return { ...chosen, beside: before.run };
      const missing = `The run before it, ${manifest.previousRun}, was removed or cannot be read, so there is nothing to compare with; \`keepRuns\` says how many runs stay.`;
      return { ...chosen, missing };
    },
    async answer({ run, connection, manifest, before }, { missing }) {
      const showsBefore = before !== undefined && mayShow(before.asked, manifest.asked);
      const drift = await driftOf({ connection, now: manifest, before, showsBefore });
      const previousRun = before?.run ?? null;
      const lead = missing ?? `Run ${run}, compared with ${previousRun}.`;
      const policyFields = drift.policy.length;
      const facts = { run, previousRun, policyFields };
      const isAsked = ({ key }: Section) => (key === "policy") === (asked === PERSONAL_SECTION);
      const sections = driftSections(drift).filter(isAsked);
      const counted = `${pluralize(policyFields, "field")} treated by the personal-data policy: --section ${PERSONAL_SECTION}.`;
      const isCounted = asked === "drift" && policyFields > 0;
      return { lead: isCounted ? `${lead} ${counted}` : lead, facts, sections };
    },
  };
}

export function driftSections(drift: DriftReport): Section[] {
  return DRIFT_PARTS.map((part) => partSection(part, drift[part]));
}

const EXTRA_COLUMNS =
  "Their values are in `extra`. Name fields of items in the setting `extraColumns` for columns of content_wide.";

function partSection(part: DriftPart, lines: readonly DriftLine[]): Section {
  const { path, kind, count, items, before, ...examples } = LINE;
  const known = part === "vanishedFields" ? "gone" : "known";
  return section({
    key: part,
    title: TITLES[part],
    lead: part === "newFields" && lines.length > 0 ? EXTRA_COLUMNS : undefined,
    limit: 100,
    columns: {
      path,
      kind,
      status: col.text(),
      count,
      items,
      before,
      meaning: col.text({ head: "what" }),
      ...examples,
    },
    shows: ["path", "status", "count", "items", "before", "meaning", "example", "exampleContentId"],
    rows: lines.map((line) => ({
      ...line,
      status: line.before === null ? null : isNewDrift(line) ? "new" : known,
      meaning: KINDS[line.kind][1],
    })),
  });
}
