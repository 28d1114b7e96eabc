/** Where the service departs from the contract, by meaning, beside the run before; what the policy did stands apart. */
import { count, counted } from "../../common/figures.ts";
import { DRIFT_PARTS, type DriftLine, type DriftPart, type DriftReport, isNew } from "../questions/drift.ts";
import type { EarlierRuns } from "./earlier-runs.ts";
import { type Column, firstOf, foreign, html, type Markup, section, table } from "./markup.ts";

/** What the page says of the run before; undefined: nothing may be told of other runs. */
type Earlier = Pick<EarlierRuns, "previous" | "before"> | undefined;

const TITLES: Readonly<Record<DriftPart, string>> = {
  newFields: "New fields",
  vanishedFields: "Vanished fields",
  changedTypes: "Changed types",
  outsideContract: "Values outside the contract",
  contradictions: "Answers that contradict each other",
  policy: "Done by the personal-data policy",
};

const KINDS: Readonly<Record<DriftLine["kind"], string>> = {
  unknown_field: "not in the contract",
  empty: "no values any more",
  type: "another type",
  single_for_list: "one value for a list",
  unreadable: "cannot be read",
  rounded: "rounded",
  instant_form: "instant in another form",
  unlisted: "value that the contract does not list",
  views_differ: "at the same updated_at",
  versions_differ: "at different updated_at",
  personal_dropped: "dropped",
  personal_hashed: "hashed",
  token_redacted: "token redacted",
};

/** Lines of a table; there are rarely more. */
const LINES_SHOWN = 200;

const OF_SERVICE = DRIFT_PARTS.filter((part) => part !== "policy");

export function driftSection(drift: DriftReport, earlier: Earlier): Markup {
  const isCompared = earlier?.before !== undefined;
  // Without a run before nobody can tell what is gone.
  const parts = OF_SERVICE.filter((part) => part !== "vanishedFields" || isCompared);
  const none = parts.filter((part) => drift[part].length === 0);
  return section(
    "drift",
    "Drift",
    html`<p class="lead">Where answers depart from the contract. ${comparison(earlier)}</p>
`,
    parts
      .filter((part) => drift[part].length > 0)
      .map((part) => html`<h3>${TITLES[part]}</h3>${linesTable(part, drift[part], isCompared)}`),
    none.length > 0 &&
      html`<p class="empty">None: ${none.map((part) => TITLES[part].toLowerCase()).join(", ")}.</p>`,
    drift.policy.length > 0 &&
      html`<details><summary>${policyTitle(drift.policy)}</summary>${linesTable("policy", drift.policy, isCompared)}</details>`,
  );
}

/** `57 fields dropped, 2 fields hashed by the personal-data policy`. */
function policyTitle(lines: readonly DriftLine[]): string {
  const kinds = Map.groupBy(lines, ({ kind }) => KINDS[kind]);
  const parts = [...kinds].map(([meaning, some]) => `${counted(some.length, "field")} ${meaning}`);
  return `${parts.join(", ")} by the personal-data policy`;
}

/** Which run the figures are compared with, or why with none. */
function comparison(earlier: Earlier): string {
  if (earlier === undefined) {
    return "This page was made anew after an erase and compares no runs; “content-warehouse report” makes one that does.";
  }
  const { previous, before } = earlier;
  if (before !== undefined) return `Compared with run ${before.sequence}.`;
  if (previous === null) return "This is the first run, so there is nothing to compare it with.";
  return `Run ${previous}, the one before, is no longer kept, cannot be read or has no mapped values, so nothing is compared with it.`;
}

/** Parts whose lines say more than that their fields are new or gone. */
const OF_SEVERAL_KINDS: readonly DriftPart[] = [
  "changedTypes",
  "outsideContract",
  "contradictions",
  "policy",
];

function linesTable(part: DriftPart, lines: readonly DriftLine[], isCompared: boolean): Markup {
  const columns: (Column<DriftLine> | false)[] = [
    { head: "API field", cell: fieldName, kind: "head" },
    OF_SEVERAL_KINDS.includes(part) && { head: "What", cell: ({ kind }) => KINDS[kind] },
    { head: "Times", cell: ({ count: times }) => count(times), kind: "number" },
    isCompared && { head: "Run before", cell: ({ before }) => count(before ?? 0), kind: "number" },
    // An example of a vanished field is one of the run before, from which a person may be erased without this page
    // being made anew: it has none.
    part !== "vanishedFields" && {
      head: "Item",
      cell: ({ exampleContentId: id }) => id !== null && html`<code>${foreign(id)}</code>`,
    },
    part !== "vanishedFields" &&
      part !== "policy" && { head: "Example", cell: ({ example }) => example !== null && foreign(example) },
  ];
  const shown = lines.slice(0, LINES_SHOWN);
  const wanted = columns.filter((column) => column !== false);
  return html`${table(TITLES[part], wanted, shown)}
${lines.length > shown.length && html`<p class="note">${counted(lines.length - shown.length, "more line")}: see the table <code>run_drift</code>.</p>`}`;
}

function fieldName(line: DriftLine): Markup {
  return html`<code>${foreign(line.path)}</code>${isNew(line) && html` <span class="tag">new</span>`}`;
}

const POINTS: Readonly<Record<Exclude<DriftPart, "policy">, (fields: string) => string>> = {
  newFields: (fields) => `new ${fields}`,
  vanishedFields: (fields) => `${fields} without values`,
  changedTypes: (fields) => `${fields} of another type`,
  outsideContract: (fields) => `${fields} with values outside the contract`,
  contradictions: (fields) => `${fields} in which answers contradict each other`,
};

/** What is new since the run before; where there is none to compare with, all that departs from the contract. */
export function driftPoints(drift: DriftReport, earlier: Earlier): Markup[] {
  const before = earlier?.before;
  return OF_SERVICE.flatMap((part) => {
    const lines = drift[part].filter(
      (line) => before === undefined || part === "vanishedFields" || isNew(line),
    );
    if (lines.length === 0) return [];
    const since = before === undefined ? "" : ` since run ${before.sequence}`;
    const text = `${count(lines.length)} ${POINTS[part](lines.length === 1 ? "field" : "fields")}${since}`;
    return [html`<a href="#drift">${text}</a>: ${firstOf(lines, told)}.`];
  });
}

function told({ path, count: times, before }: DriftLine): Markup {
  const often = times === 0 ? `had ${counted(before ?? 0, "value")}` : counted(times, "time");
  return html`<code>${foreign(path)}</code> (${often})`;
}
