/** The report of a run: answers to the questions that commands answer, in one page. The same runs give the same bytes. */
import { readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readChecks } from "../../audit/checks/checks.ts";
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
import { driftOf } from "../../audit/questions/drift.ts";
import type { EarlierRuns } from "../../audit/questions/earlier-runs.ts";
import { type ItemLimits, packItems } from "../../audit/questions/items.ts";
import type { Answer, Section } from "../../common/answer.ts";
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
    { id: "items", name: "Items", title: "Items", command: "explain", answer: undefined, picture: itemsMarkup(items) },
    {
      id: "requests",
      name: "Requests",
      title: "Requests",
      command: "runs show",
      answer: requests,
    },
    { id: "tables", name: "Tables", title: "Tables", command: "runs show", answer: await tablesAnswer(connection) },
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
