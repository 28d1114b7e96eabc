/** Answers `runs show`: the facts of one run, and from its own tables the checks and rejects. */
import { dirname, join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { type Answer, col, FACT_COLUMNS, type Section, section } from "../../common/answer.ts";
import { count, duration, fileSize, megabytes, minuteOf, pluralize } from "../../common/figures.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { isRunTable } from "../../tables/all.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { runBefore, unchangedFiles } from "../../warehouse/publish.ts";
import { CHECK_COLUMNS, DIFFERENT_TIMES, type RunCheck, readChecks, TEST_PREFIX } from "../checks/checks.ts";
import { countWithoutValue, valuesText } from "../mapping/value-counts.ts";
import type { ReadableRun } from "../open-run.ts";
import { runListRow } from "./runs.ts";

const required = { required: true } as const;

/** Shows one run. `connection`: has its tables; undefined if it has no tables about the run. */
export async function runAnswer(
  found: ReadableRun,
  connection: DuckDBConnection | undefined,
): Promise<Answer> {
  const { manifest, directory } = found;
  const before = await runBefore(dirname(directory), manifest);
  const same = before && unchangedFiles(manifest.files, before.manifest.files);
  return {
    lead: "",
    facts: figuresOf(found, same),
    sections: [
      aboutSection(found, same),
      ...(connection === undefined ? [] : [checksSection(await readChecks(connection))]),
    ],
  };
}

/** Facts of the run for programs. `same`: files as in the run before, if that is kept. */
function figuresOf(
  { run, manifest, current }: ReadableRun,
  same: ReturnType<typeof unchangedFiles> | undefined,
): Answer["facts"] {
  const { sequence, asked, found, instance, verdict, endedAt, versions } = manifest;
  const { items, changes, mappedValues, previousRun, replayOf, files } = manifest;
  const { policy, keyId } = asked.personalData;
  const { took_ms, size_bytes } = runListRow({ run, sequence }, manifest, "");
  return {
    run,
    sequence,
    current,
    pipeline: asked.pipeline.name,
    service: { url: instance.origin, instance: instance.id },
    startedAt: found.startedAt,
    endedAt,
    milliseconds: took_ms,
    verdict,
    items,
    changes,
    mappedValues:
      mappedValues === null
        ? null
        : Object.assign({ mapped: 0, withoutExternalValue: countWithoutValue(mappedValues) }, mappedValues),
    previousRun,
    replayOf,
    personalData: { policy, keyId },
    versions,
    bytes: size_bytes,
    files: files.length,
    unchanged: same === undefined ? null : { ...same },
  };
}

function aboutSection(
  { run, directory, manifest, current }: ReadableRun,
  same: ReturnType<typeof unchangedFiles> | undefined,
): Section {
  const { asked, found, instance, verdict, versions, previousRun } = manifest;
  const { items, mappedValues, mappedChanges, replayOf } = manifest;
  const { outages } = found;
  const page = manifest.files.find(({ path }) => path.endsWith(".html"));
  const { policy, keyId } = asked.personalData;
  const { change, took_ms, size_bytes } = runListRow({ run, sequence: manifest.sequence }, manifest, "");
  const took = duration((took_ms ?? 0) / 1000);
  const { listed, loaded, rejected, vanished, unread } = items;
  const rest = [vanished > 0 && `${count(vanished)} vanished`, unread > 0 && `${count(unread)} unread`];
  const counts = [
    `${count(listed)} listed`,
    `${count(loaded)} loaded`,
    `${count(rejected)} rejected`,
    ...rest,
  ];
  const unchanged = same === undefined ? "" : ` (${fileSize(same.bytes)} shared with the run before)`;
  const size = `${fileSize(size_bytes ?? 0)} in ${pluralize(manifest.files.length, "file")}${unchanged}`;
  const lines: ([string, string] | false)[] = [
    ["Run", current ? `${run} (current)` : run],
    ["Pipeline", asked.pipeline.name],
    ["Service", instance.id === null ? instance.origin : `${instance.origin}, instance ${instance.id}`],
    ["Started", `${minuteOf(new Date(found.startedAt))} UTC, took ${took}`],
    ["Folder", directory],
    ["Verdict", [verdict, ...manifest.reasons].join("; ")],
    ["Evidence", evidenceText(manifest)],
    ["Items", counts.filter((text) => text !== false).join(", ")],
    change !== null && ["Change", change],
    mappedValues !== null && ["Values", valuesText(mappedValues)],
    mappedChanges !== null && [
      "Lost",
      `${pluralize(mappedChanges.lost, "value")}; ${count(mappedChanges.gained)} gained`,
    ],
    ["Rows", rowsText(manifest)],
    replayOf === null && ["Requests", requestsText(manifest)],
    found.resumedAt.length > 0 && ["Resumed", found.resumedAt.join(", ")],
    outages !== null && [
      "Outages",
      `${count(outages.count)}; the run waited ${duration(outages.seconds)} in all`,
    ],
    ["Before it", previousRun ?? "no run"],
    replayOf !== null && ["Replay of", replayOf],
    ["Personal data", policy + (keyId === null ? "" : `, key ${keyId}`)],
    ["Made by", `content-warehouse ${versions.package}, DuckDB ${versions.duckdb}, Node ${versions.node}`],
    ["Size", size],
    page !== undefined && ["Page", join(directory, page.path)],
    ...manifest.warnings.map((text): [string, string] => ["Warning", text]),
  ];
  const rows = lines.filter((line) => line !== false).map(([name, text]) => ({ name, text, notable: false }));
  return section({
    key: "about",
    title: "Run",
    columns: FACT_COLUMNS,
    shows: ["name", "text"],
    rows,
    isLines: true,
  });
}

/** `two passes agree: dynamic 500 items, full 500 items; the service counts 500`. */
function evidenceText({ verdict, found: { passes, modesDiffer }, items }: Manifest): string {
  const complete = verdict === "complete";
  const agree = {
    complete: passes.length > 2 ? `of ${passes.length} passes the last two agree` : "two passes agree",
    unsettled: "the answers do not agree",
    limited: "not certified",
  }[verdict];
  const told = complete ? passes.slice(-2) : passes;
  const seen = told.map((pass) => `${pass.mode} ${count(pass.distinctItems)} items`).join(", ");
  const times = complete && modesDiffer ? `; ${DIFFERENT_TIMES}` : "";
  return `${agree}: ${seen}; the service counts ${count(items.counted)}${times}`;
}

function rowsText({ rows }: Manifest): string {
  const data = Object.entries(rows)
    .filter(([table]) => !isRunTable(table))
    .toSorted(([, a], [, b]) => b - a);
  const total = data.reduce((sum, [, number]) => sum + number, 0);
  const named = data.slice(0, 3).map(([table, number]) => `${table} ${count(number)}`);
  return `${count(total)} in ${pluralize(data.length, "table")} of data; most in ${named.join(", ")}`;
}

function requestsText({ found: { requests, singleItems, throttled } }: Manifest): string {
  const rate =
    throttled?.ratePerSecond == null ? "" : `, limited to about ${throttled.ratePerSecond} a second`;
  const refused = throttled === null ? "" : `, ${count(throttled.refused)} refused for their rate${rate}`;
  const received = `${count(requests.count)}${refused}, ${megabytes(requests.bytes)} received`;
  if (singleItems.reused === 0) return received;
  return `${received}; single items: ${count(singleItems.reused)} unchanged, not requested again, ${count(singleItems.requested)} requested`;
}

/**
 * A screen shows only checks that did not pass, with up to three of the rows behind each. A page has no rows of tests: a
 * query may read personal data, or data that only the run before has.
 */
export function checksSection(checks: readonly RunCheck[], isPage = false): Section {
  const poor = checks.filter(({ verdict }) => verdict !== "passed").length;
  const passed = checks.length - poor;
  return section({
    key: "checks",
    title: "Checks",
    lead:
      poor === 0
        ? `All ${pluralize(passed, "check")} passed.`
        : `${pluralize(passed, "check")} passed; \`runs show --section checks --format csv\` lists them. Not passed:`,
    columns: CHECK_COLUMNS,
    shows: ["check_name", "verdict", "figure", "expected", "detail", "examples"],
    rows: checks.map((check) =>
      isPage && check.check_name.startsWith(TEST_PREFIX) ? { ...check, examples: null } : check,
    ),
    total: poor,
    limit: poor,
  });
}

const REJECTS = {
  reject: col.count(required),
  mode: col.text(required),
  pass: col.count(),
  page: col.count(),
  position: col.count(),
  content_id: col.name({ head: "item" }),
  reason: col.text(required),
  document: col.text(),
  sha256: col.text(),
} as const;

/** Reads the first rejects, at most `limit`, and their number. */
export async function readRejectsSection(connection: DuckDBConnection, limit: number): Promise<Section> {
  const columns = { ...REJECTS, total: col.count(required) } as const;
  const sql = "SELECT *, count(*) OVER () AS total FROM run_rejects ORDER BY reject LIMIT $1";
  const rows = await readRows(connection, columns, sql, [limit]);
  return section({
    key: "rejects",
    title: "Rejects",
    lead:
      rows.length === 0 ? undefined : "Each document, or item asked for singly, that could not be loaded.",
    columns: REJECTS,
    shows: ["reject", "mode", "pass", "page", "position", "content_id", "reason"],
    rows,
    total: rows[0]?.total ?? 0,
    limit: 100,
  });
}
