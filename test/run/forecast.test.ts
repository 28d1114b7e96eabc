/** What `check` says that a run would ask for, and what the run that follows then does. */
import assert from "node:assert/strict";
import { chmod, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { checkCommand } from "../../src/cli/commands/check.ts";
import { runCommand } from "../../src/cli/commands/run.ts";
import { systemClock } from "../../src/common/clock.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { eraseUser } from "../../src/erase/erase.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { freeBytes } from "../../src/warehouse/disk.ts";
import { currentRun, outputFolder } from "../../src/warehouse/layout.ts";
import { outcome } from "../cli/capture.ts";
import { long } from "../long.ts";
import { CANARY, temporaryFolder } from "./running.ts";
import { itemsOf, listBody, Scripted } from "./scripted.ts";

/** Of few tables, which takes little time, with single items and both lookups. */
const PIPELINE = packagePath("test/run/parquet-pipeline.ts");

type Settings = Readonly<Record<string, unknown>>;

interface Row {
  readonly stage: string;
  readonly requests: number;
  readonly bytes: number | null;
  readonly milliseconds: number | null;
}

interface Checked {
  readonly exit_code: number;
  readonly checks: readonly { readonly check: string; readonly status: string; readonly detail: string }[];
  readonly forecast: readonly Row[];
  readonly forecast_totals: Omit<Row, "stage"> & { readonly published_bytes: number | null };
  readonly single_items: Readonly<Record<string, unknown>>;
}

/** A folder with a warehouse, of a service or of the sample. */
async function nights(t: TestContext, source: Settings & { readonly sample?: true }) {
  const cwd = await temporaryFolder(t);
  const { sample, ...settings } = source;
  const command = async (make: typeof checkCommand, args: readonly string[], changed: Settings) => {
    const file = join(cwd, "config.json");
    await writeFile(file, JSON.stringify({ ...settings, ...changed }));
    const all = [...args, "--config", file, ...(sample === true ? ["--sample"] : [])];
    const { text, error } = await outcome(make, all, { cwd, env: { CONTENT_API_TOKEN: CANARY } });
    assert.equal(error, undefined);
    return text;
  };
  const check = async (changed: Settings = {}): Promise<Checked> =>
    JSON.parse(await command(checkCommand, [PIPELINE, "--format", "json"], changed));
  const run = async (changed: Settings = {}): Promise<RunSummary> =>
    JSON.parse(await command(runCommand, [PIPELINE, "--quiet", "--json"], changed));
  return {
    cwd,
    check,
    markdown: () => command(checkCommand, [PIPELINE, "--format", "markdown"], {}),
    run,
    /** The text that people read. */
    told: async (changed: Settings = {}, ...args: string[]) =>
      (await command(checkCommand, [PIPELINE, ...args], changed)).replaceAll(/\s+/g, " "),
    /** Checks, then runs, and holds the one against the other. */
    both: async (changed: Settings = {}) => {
      const checked = await check(changed);
      const ran = await run(changed);
      assertNear(total(checked, "requests"), ran.requests, "requests");
      return { checked, ran };
    },
  };
}

function total({ forecast }: Checked, of: "requests" | "bytes" | "milliseconds"): number {
  return forecast.reduce((all, row) => all + Number(row[of] ?? Number.NaN), 0);
}

function assertNear(told: number, actual: number, what: string): void {
  assert.ok(Math.abs(told - actual) <= 0.15 * actual, `${what}: ${told} were told, and there were ${actual}`);
}

function requestsOf({ checks }: Checked) {
  return checks.find(({ check }) => check === "requests") ?? assert.fail("nothing is said of requests");
}

const stage = ({ forecast }: Checked, name: string) =>
  forecast.find((row) => row.stage === name)?.requests ?? 0;

test("as Markdown a setting's name is code, and no backtick is left over", async (t) => {
  const { markdown } = await nights(t, { sample: true });
  const text = await markdown();
  assert.match(text, /(?<!\\)`rereadDays` 7 makes them about/);
  assert.doesNotMatch(text, /\\`/);
});

suite("what check tells is within 15 percent of what the next run does:", () => {
  test("a first run, the nights after it, and nights without reuse", async (t) => {
    const service = await Scripted.start(t, itemsOf(200));
    const { both, check } = await nights(t, { url: service.url, perPage: 10 });
    const first = await both();
    assert.equal(stage(first.checked, "single items"), 20);
    const { requests } = first.checked.forecast_totals;
    const nobodyKnows = { bytes: null, milliseconds: null, published_bytes: null };
    assert.deepEqual(first.checked.forecast_totals, { requests, ...nobodyKnows });
    assert.equal(requests, total(first.checked, "requests"));
    assert.match(requestsOf(first.checked).detail, /without a run before .* nobody can tell how long/);

    const second = await both();
    assert.equal(stage(second.checked, "single items"), 0);
    assertNear(total(second.checked, "bytes"), second.ran.bytesReceived, "bytes");
    const { forecast_totals: totals, single_items: singles } = second.checked;
    assertNear(totals.published_bytes ?? 0, second.ran.bytesPublished, "published bytes");
    assert.deepEqual(singles, { wanted: 20, reused: 20, none_reused_for: null, other_settings: [] });

    const anew = await both({ rereadDays: 0 });
    assert.equal(stage(anew.checked, "single items"), 20);
    // The run before asked for none, and pages are no measure of them.
    const unknown = anew.checked.forecast.find((row) => row.stage === "single items");
    assert.deepEqual([unknown?.bytes, unknown?.milliseconds], [null, null]);
    assert.match(
      requestsOf(anew.checked).detail,
      /^about \d+, 0\.\d MB, in .* s, and how many bytes and how long single items take, of which the run before asked for none, nobody can tell$/,
    );
    // Some have been added since, and other aliases make other documents.
    service.items = itemsOf(260);
    const grown = await both();
    assertNear(total(grown.checked, "bytes"), grown.ran.bytesReceived, "bytes");
    const renamed = await check({ aliases: { heading: "title" } });
    assert.equal(stage(renamed, "single items"), 26);
    assert.deepEqual(
      [renamed.single_items.none_reused_for, renamed.single_items.other_settings],
      ["settings", ["aliases", "columns"]],
    );
  });

  test("pages that the service grants smaller than `perPage`, once a run has seen it", async (t) => {
    const service = await Scripted.start(t, itemsOf(200));
    service.script = (question) => {
      const perPage = Math.min(question.perPage, 20);
      return question.kind === "list"
        ? { body: listBody(service.items, { ...question, perPage }) }
        : undefined;
    };
    const { check, run } = await nights(t, { url: service.url, perPage: 100, details: "none" });
    const { requests } = await run();
    const checked = await check();
    assertNear(total(checked, "requests"), requests, "requests");
    assert.equal(stage(checked, "dynamic listing"), 10);
    assert.equal(stage(await check({ perPage: 10 }), "dynamic listing"), 20);
  });

  long("single items of all items, at a rate, of which the deadline is too near", async (t) => {
    const service = await Scripted.start(t, itemsOf(60));
    const all = { url: service.url, perPage: 20, details: "all", ratePerSecond: 100 };
    const { both, check } = await nights(t, all);
    const { checked, ran } = await both();
    assertNear(total(checked, "milliseconds"), ran.requests * 10, "milliseconds");
    assert.match(requestsOf(checked).detail, /^about 67 in 0\.7 s at 100 a second$/);
    const second = await both({ rereadDays: 0 });
    assert.ok(total(second.checked, "milliseconds") >= 0.85 * second.ran.requests * 10);

    const late = await check({ rereadDays: 0, ratePerSecond: 1, deadlineMinutes: 1 });
    assert.deepEqual([late.exit_code, requestsOf(late).status], [0, "warning"]);
    assert.match(requestsOf(late).detail, /^about 66.* in 1 min 6 s at 1 a second, and `deadlineMinutes`/);
    const reused = await check({ ratePerSecond: 1, deadlineMinutes: 1 });
    assert.equal(requestsOf(reused).status, "ok");
  });
});

long(
  "check names the cause where no single item can be reused, and promises nothing that does not come",
  async (t) => {
    const service = await Scripted.start(
      t,
      itemsOf(20).map((item) => ({ ...item, author_details: { id: "u1", email: "a@example.com" } })),
    );
    const keep = { personalData: { policy: "keep" } };
    const { told, run, cwd } = await nights(t, { url: service.url, perPage: 10, details: "all", ...keep });
    assert.match(await told({ raw: false }), /of each night to come: with `raw` false no run keeps/);
    assert.match(await told({ rereadDays: 0 }), /with `rereadDays` 7 those that do not change/);
    const anew = await told({}, "--reread");
    assert.match(anew, /What a run would ask for/);
    assert.doesNotMatch(anew, /rereadDays|Single items are/);
    await run({ raw: false });
    const kept = /No single item of the run before can be reused: it kept no raw documents of them/;
    assert.match(await told(), new RegExp(`${kept.source}\\.`));
    assert.match(
      await told({ raw: false }),
      new RegExp(`${kept.source}, and with \`raw\` false none will\\.`),
    );
    await run();
    assert.match(await told(), /`rereadDays` 7 saves 20 of 20 single items\./);
    const hashed = await told({ personalData: { policy: "drop" }, aliases: { heading: "title" } });
    assert.match(hashed, /reused: not as in the run before: the policy for personal data, `aliases`/);
    const folder = outputFolder(join(cwd, "warehouse"));
    const erasing = { clock: systemClock, threads: 1, freeBytes, onStep: () => {} };
    await eraseUser(folder, { userId: "u1", ...erasing });
    assert.match(await told(), /reused: somebody was erased from it\./);
    const raw = join(folder.runs, (await currentRun(folder)) ?? "", "raw/item");
    const [file = ""] = await readdir(raw);
    await chmod(raw, 0o700);
    await rm(join(raw, file));
    assert.match(await told(), /reused: its file raw\/item\/\S+ is missing/);
  },
);

long(
  "the sample with pages as large as the service grants: three nights, and one of all items",
  async (t) => {
    const { both } = await nights(t, { sample: true });
    await both();
    const second = await both();
    assertNear(total(second.checked, "bytes"), second.ran.bytesReceived, "bytes");
    await both({ rereadDays: 0 });
    await both({ details: "all" });
  },
);
