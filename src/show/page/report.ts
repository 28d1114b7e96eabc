/** The report of a run: answers to the questions that commands answer, in one page. The same runs give the same bytes. */
import { readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type RunCheck, readChecks } from "../../audit/checks/checks.ts";
import type { Fullness } from "../../audit/checks/mass-change.ts";
import { sentOrNot, WITHOUT_EXTERNAL_VALUE } from "../../audit/mapping/mapped-value.ts";
import { missingTables, type OpenedRun, openViews, viewed } from "../../audit/open-run.ts";
import {
  namelessDestinations,
  passesSection,
  type RunAccount,
  readAccount,
  requestsAnswer,
  tablesAnswer,
} from "../../audit/questions/account.ts";
import { type Coverage, coverageOf, coverageSections } from "../../audit/questions/coverage.ts";
import { type DriftReport, driftOf, driftSections } from "../../audit/questions/drift.ts";
import type { EarlierRuns } from "../../audit/questions/earlier-runs.ts";
import { type ItemLimits, packItems } from "../../audit/questions/items.ts";
import { type Answer, col, type Section, section } from "../../common/answer.ts";
import { count, counted, duration, fileSize, minuteOf } from "../../common/figures.ts";
import { together } from "../../storage/parallel.ts";
import { coverageMatrix } from "./coverage-matrix.ts";
import { itemsMarkup } from "./items.ts";
import { foreign, html, type Markup } from "./markup.ts";
import { nothingPossible, overviewOf } from "./overview.ts";
import { type PagePart, pageMarkup } from "./page.ts";

/** Name of the report in the folder of a run. */
export const REPORT_FILE = "report.html";

/** A run whose tables are open, and those of the run before beside them, where there is one to compare with. */
export interface ReportedRun extends Pick<OpenedRun, "connection" | "connect"> {
  readonly manifest: Fullness;
  /** Undefined: nothing may be told of other runs. */
  readonly earlier: EarlierRuns | undefined;
}

/** The page, as HTML. Its two long parts are read beside each other: each makes tables on a connection of its own. */
export async function reportOf(run: ReportedRun, limits?: ItemLimits): Promise<string> {
  const { connection, manifest, earlier } = run;
  const account = await readAccount(connection);
  const checks = await readChecks(connection);
  const drift = await driftOf({ connection, now: manifest, before: earlier?.before?.manifest });
  const other = await run.connect();
  const [coverage, items] = await together(coverageOf(connection, {}), packItems(other, limits));
  const requests = await requestsAnswer(connection, account);
  const nameless = account.instanceUrl === "sample" ? [] : await namelessDestinations(connection);
  const parts: PagePart[] = [
    coveragePart(coverage),
    valuesPart(coverage),
    {
      id: "items",
      name: "Items",
      title: "Items",
      command: "explain",
      answer: undefined,
      picture: itemsMarkup(items),
    },
    driftPart(drift, earlier),
    {
      id: "checks",
      name: "Checks",
      title: "Checks",
      command: "runs show",
      answer: checksAnswer(checks, await passesSection(connection)),
    },
    { id: "requests", name: "Requests", title: "Requests", command: "runs show", answer: requests },
    {
      id: "tables",
      name: "Tables",
      title: "Tables",
      command: "runs show",
      answer: await tablesAnswer(connection),
    },
  ];
  const comparedWith = earlier?.before?.sequence;
  const { run: name, sequence, verdict, packageVersion } = account;
  return pageMarkup({
    name: `Run ${sequence}: ${verdict} · content-warehouse`,
    generator: `content-warehouse ${packageVersion}`,
    heading: html`Run ${sequence} <span class="run-name">${name}</span>`,
    subtitle: subtitle(account, requests),
    overview: overviewOf({ account, checks, coverage, drift, comparedWith, unsent: items.unsent, nameless }),
    parts,
    items: items.json,
    foot: foot(account),
  });
}

/** Sections of an answer that has nothing else to say. */
function answerOf(lead: string, sections: readonly Section[]): Answer {
  return { lead, facts: {}, sections };
}

function coveragePart(coverage: Coverage): PagePart {
  const { coverage: rows, passthrough } = coverage;
  const part = { id: "coverage", name: "Coverage", title: "Coverage", command: "audit" } as const;
  if (rows.length === 0) {
    const none = "No custom field is mapped for a destination, so there is nothing to cover.";
    return { ...part, answer: undefined, picture: html`<p class="empty">${none}</p>` };
  }
  const lead =
    "The share of each field’s values that are mapped at each destination. The stronger the colour, the more is missing.";
  const sections = coverageSections(coverage).filter(({ key }) => key !== "values");
  return { ...part, answer: answerOf(lead, sections), picture: coverageMatrix(rows, sentOrNot(passthrough)) };
}

/** The values of the audit that need attention: those without an external value apart from the others. */
function valuesPart(coverage: Coverage): PagePart {
  const without: readonly unknown[] = WITHOUT_EXTERNAL_VALUE;
  const sections = coverageSections(coverage).flatMap((section): Section[] => {
    if (section.key !== "values") return [];
    const [lacking = [], others = []] = [true, false].map((is) =>
      section.rows.filter(({ status }) => without.includes(status) === is),
    );
    return [
      {
        ...section,
        key: "without",
        title: "Values without an external value",
        none: noneWithout(coverage),
        rows: lacking,
      },
      { ...section, key: "flagged", title: "Mapped values that are archived or ambiguous", rows: others },
    ];
  });
  const lead = "The value that touches most items first.";
  return {
    id: "unmapped",
    name: "Values",
    title: "Values without an external value",
    command: "audit",
    answer: answerOf(lead, sections),
  };
}

function noneWithout(coverage: Coverage): string {
  const isPossible = coverage.coverage.some(({ mapped }) => mapped > 0);
  return isPossible
    ? "Every value in use of a field with a value mapping is mapped at every destination that its field is mapped for."
    : `There is no value to look at: ${nothingPossible(coverage)}.`;
}

const CHECKS = {
  check: col.text({ required: true }),
  verdict: col.text({ required: true }),
  counted: col.count({ required: true }),
  expected: col.count(),
  detail: col.text(),
} as const;

function checksAnswer(checks: readonly RunCheck[], passes: Section): Answer {
  const rows = checks.map(({ checkName, figure, ...check }) => ({
    ...check,
    check: checkName,
    counted: figure,
  }));
  const warned = rows.filter(({ verdict }) => verdict !== "passed");
  const passed = rows.filter(({ verdict }) => verdict === "passed");
  return answerOf("", [
    section({ key: "warnings", title: "Checks that did not pass", columns: CHECKS, rows: warned }),
    section({ key: "passed", title: "Checks that passed", columns: CHECKS, rows: passed }),
    passes,
  ]);
}

function driftPart(drift: DriftReport, earlier: EarlierRuns | undefined): PagePart {
  // An example of a vanished field is one of the run before, from which a person may be erased without this page being
  // made anew: it has none.
  const vanishedFields = drift.vanishedFields.map((line) => ({
    ...line,
    example: null,
    exampleContentId: null,
  }));
  const isCompared = earlier?.before !== undefined;
  // Without a run before nobody can tell what is gone.
  const sections = driftSections({ ...drift, vanishedFields }).filter(
    ({ key }) => isCompared || key !== "vanishedFields",
  );
  const lead = `Where answers depart from the contract. ${comparison(earlier)}`;
  return { id: "drift", name: "Drift", title: "Drift", command: "drift", answer: answerOf(lead, sections) };
}

/** Which run the figures are compared with, or why with none. */
function comparison(earlier: EarlierRuns | undefined): string {
  if (earlier === undefined) {
    return 'This page was made anew after an erase and compares no runs; "content-warehouse report" makes one that does.';
  }
  const { previous, before } = earlier;
  if (before !== undefined) return `Compared with run ${before.sequence}.`;
  if (previous === null) return "This is the first run, so there is nothing to compare it with.";
  return `Run ${previous}, the one before, is no longer kept, cannot be read or has no mapped values, so nothing is compared with it.`;
}

/** Under the name of the run. */
function subtitle(account: RunAccount, { facts }: Answer): Markup {
  const { startedAt, endedAt, requestsRefused, instanceUrl, pipeline } = account;
  const builtMs = endedAt.getTime() - startedAt.getTime();
  const refused = requestsRefused > 0 && `, ${count(requestsRefused)} refused (throttled)`;
  return html`${foreign(instanceUrl)}, read by the pipeline ${foreign(pipeline)} on <time datetime="${startedAt.toISOString()}">${minuteOf(startedAt)} UTC</time>; its tables were built ${duration(builtMs / 1000)} later. ${counted(Number(facts.requests), "request")}${refused}, ${fileSize(Number(facts.bytes))} received.`;
}

function foot({ packageVersion, duckdbVersion, nodeVersion, personalData }: RunAccount): Markup {
  return html`Made by content-warehouse ${packageVersion} from the tables of the run, and those of the kept runs before it (DuckDB ${duckdbVersion}, Node ${nodeVersion}). Personal data: ${personalData}; the report shows no personal columns. Times are UTC.`;
}

/** Of the database, while a run makes its report, for two statements at a time: as much as the load before it takes. */
const MEMORY_LIMIT_MB = 200;

interface ReportRequest extends Fullness, Pick<ReportedRun, "earlier"> {
  /** Folder that becomes that of the run; gets the report. */
  readonly result: string;
  /** Closed database with all tables of the run; undefined: their Parquet files in the result are read. */
  readonly database: string | undefined;
  /** For spilled blocks; exists. */
  readonly temporaryDirectory: string;
}

/**
 * Writes the report of a run that is about to be published. A run whose pipeline leaves the mapped values out has
 * none: false.
 */
export async function writeReport(request: ReportRequest): Promise<boolean> {
  const { result, rows, emptyColumns, database, temporaryDirectory } = request;
  const file = join(result, REPORT_FILE);
  // A run that was killed may have left a part of one.
  await rm(file, { force: true });
  if (missingTables(rows).length > 0) return false;
  const parquet = (table: string) => {
    const folder = join(result, "parquet", table);
    const names = readdirSync(folder).sort();
    return names.map((name) => join(folder, name));
  };
  const own = {
    tables: Object.keys(rows),
    source: { directory: result, database, filesOf: parquet },
    temporaryDirectory,
    memoryLimitMb: MEMORY_LIMIT_MB,
  };
  const { before } = request.earlier ?? {};
  // A run before that cannot be opened leaves the report without a comparison, and the page says so.
  const both = before && (await openViews({ ...own, beside: viewed(before) }).catch(() => undefined));
  const earlier =
    both === undefined && request.earlier ? { ...request.earlier, before: undefined } : request.earlier;
  await using tables = both ?? (await openViews(own));
  const { connection } = tables;
  const manifest = { rows, emptyColumns };
  const page = await reportOf({ connection, connect: () => tables.connect(), manifest, earlier });
  try {
    await writeFile(file, page, { mode: 0o600 });
  } catch (thrown) {
    // All that is in the folder is published, so an incomplete page must not stay.
    await rm(file, { force: true });
    throw thrown;
  }
  return true;
}
