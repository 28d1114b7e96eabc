/** The rules of docs/examples/alerts.yml, by Prometheus' own tool: each alert in a case for it, and one against it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";
import { temporaryFolder } from "../run/running.ts";

const RULES = packagePath("docs/examples/alerts.yml");
const HOURS = 60;
const DAY = 24 * HOURS;

/** Metrics by name and labels, without the prefix: a value for each minute, by its number. */
type Series = Readonly<Record<string, (minute: number) => number | null>>;

const WELL: Series = {
  'published_timestamp_seconds{warehouse="/srv/warehouse"}': () => 0,
  'run_timestamp_seconds{warehouse="/srv/warehouse"}': () => 0,
  'attempt_timestamp_seconds{warehouse="/srv/warehouse"}': () => -300,
  'run_exit_code{warehouse="/srv/warehouse"}': () => 0,
  'current_pinned_timestamp_seconds{warehouse="/srv/warehouse"}': () => null,
  'published_verdict{warehouse="/srv/warehouse",verdict="unsettled"}': () => 0,
  'published_values_lost{warehouse="/srv/warehouse"}': () => 0,
};

interface Case {
  readonly alert: string;
  readonly changes: Series;
  /** Minutes after the beginning at which it is quiet, and at which it is not; null: it always is. */
  readonly quiet: number;
  readonly loud: number | null;
}

const CASES: readonly Case[] = [
  { alert: "WarehouseIsOld", changes: {}, quiet: 26 * HOURS, loud: 26 * HOURS + 2 },
  {
    // The first run ever failed, and so does each night.
    alert: "WarehouseIsOld",
    changes: {
      "published_timestamp_seconds{}": () => null,
      "published_verdict{}": () => null,
      "run_exit_code{}": () => 20,
      "attempt_timestamp_seconds{}": (minute) => Math.floor(minute / DAY) * DAY * 60,
    },
    quiet: 26 * HOURS,
    loud: 26 * HOURS + 2,
  },
  { alert: "WarehouseRunFailed", changes: { "run_exit_code{}": () => 21 }, quiet: -1, loud: 0 },
  { alert: "WarehouseRunFailed", changes: { "run_exit_code{}": () => 10 }, quiet: 5, loud: null },
  {
    alert: "WarehouseUnsettled",
    changes: { "published_verdict{}": () => 1 },
    quiet: 25 * HOURS,
    loud: 26 * HOURS,
  },
  { alert: "WarehouseUnsettled", changes: {}, quiet: 30 * HOURS, loud: null },
  { alert: "ExternalValuesLost", changes: { "published_values_lost{}": () => 1 }, quiet: -1, loud: 0 },
  { alert: "ExternalValuesLost", changes: {}, quiet: 5, loud: null },
  {
    alert: "WarehouseRunHangs",
    changes: { "attempt_timestamp_seconds{}": () => 600 },
    quiet: 6 * HOURS,
    loud: 6 * HOURS + 12,
  },
  {
    alert: "WarehouseRunHangs",
    changes: { "attempt_timestamp_seconds{}": () => 600, "run_timestamp_seconds{}": () => null },
    quiet: 6 * HOURS,
    loud: 6 * HOURS + 12,
  },
  { alert: "WarehouseRunHangs", changes: {}, quiet: 12 * HOURS, loud: null },
  {
    alert: "WarehouseIsSilent",
    changes: { "published_timestamp_seconds{}": () => null },
    quiet: 29,
    loud: 31,
  },
  { alert: "WarehouseIsSilent", changes: {}, quiet: 2 * HOURS, loud: null },
];

/** `name{}` stands for the series of that name. */
function seriesOf(changes: Series): Series {
  const changed = Object.entries(WELL).map(([name, value]) => {
    const [short = ""] = name.split("{");
    return [name, changes[name] ?? changes[`${short}{}`] ?? value];
  });
  return Object.fromEntries(changed);
}

const MINUTES = 31 * HOURS;

function inputOf(series: Series): object[] {
  return Object.entries(series).map(([name, value]) => ({
    series: `content_warehouse_${name}`,
    values: Array.from({ length: MINUTES }, (_, minute) => value(minute) ?? "_").join(" "),
  }));
}

/** Alerts that fire at a minute, whatever their labels. */
function fires({ alert }: Case, minute: number, count: number): object {
  return {
    expr: `count(ALERTS{alertname="${alert}", alertstate="firing"})`,
    eval_time: `${minute}m`,
    exp_samples: count === 0 ? [] : [{ labels: "{}", value: count }],
  };
}

const promtool = (...args: string[]) => promisify(execFile)("promtool", args, { maxBuffer: 1 << 26 });

test("the rules are rules", async () => {
  const { stdout } = await promtool("check", "rules", RULES);
  assert.match(stdout, /SUCCESS: 6 rules found/);
});

for (const [index, each] of CASES.entries()) {
  const { alert, changes, quiet, loud } = each;
  const what = Object.keys(changes).join(" and ") || "nothing";
  test(`${index + 1}: ${alert} ${loud === null ? "is quiet" : "fires"} where ${what} is otherwise`, async (t) => {
    const file = join(await temporaryFolder(t), "case.json");
    const expected = [
      ...(quiet < 0 ? [] : [fires(each, quiet, 0)]),
      ...(loud === null ? [] : [fires(each, loud, 1)]),
    ];
    const tests = [{ interval: "1m", input_series: inputOf(seriesOf(changes)), promql_expr_test: expected }];
    await writeFile(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: "1m", tests }));
    await promtool("test", "rules", file);
  });
}
