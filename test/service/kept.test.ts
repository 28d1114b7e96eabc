/** What a run kept, served again: an export of it has equal rows, for as many requests. */
import assert from "node:assert/strict";
import { appendFile, chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { BASIC_FIELDS } from "../../src/api/basic.ts";
import { findReadable } from "../../src/audit/open-run.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { Secret } from "../../src/common/secret.ts";
import { removeTree } from "../../src/common/tree.ts";
import type { Config } from "../../src/config/config.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { keptContent } from "../../src/service/kept.ts";
import { loadContentSet } from "../../src/service/load.ts";
import { createService, serve } from "../../src/service/service.ts";
import { DATA_TABLES, isAboutTheRun } from "../../src/tables/all.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { sourceOf } from "../../src/warehouse/published-tables.ts";
import { fewSampleNights } from "../audit/two-nights.ts";
import { differingTables } from "../differing-tables.ts";
import { either, long } from "../long.ts";
import { CANARY, exportFrom, HurriedClock, NIGHTLY, rowsOf, SMALL, temporaryFolder } from "../run/running.ts";
import { type Item, item, itemsOf, listBody, Scripted } from "../run/scripted.ts";

/** The clock of both exports and of what is served. */
const now = () => Date.UTC(2026, 10, 20, 2);

interface Exported {
  readonly t: TestContext;
  readonly url: string;
  readonly config: Partial<Config>;
  readonly pipelineUrl?: string;
}

async function exported({ t, url, config, pipelineUrl = NIGHTLY }: Exported) {
  const out = await temporaryFolder(t);
  const summary = await exportFrom({ url, out, pipelineUrl, clock: new HurriedClock(), config });
  return { out, summary };
}

/** Serves the current run of a warehouse. */
async function kept(t: TestContext, out: string): Promise<string> {
  const run = await findReadable(outputFolder(out), "current");
  const serving = await serve(await keptContent({ ...run, token: CANARY }), { now });
  t.after(() => serving.close());
  return serving.url;
}

/** The histories are left out where one run goes on from another: they name runs. */
async function assertEqualData(one: RunSummary, other: RunSummary): Promise<void> {
  const goesOn = one.previousRun !== null;
  const runs = await Promise.all(
    [one, other].map(async ({ warehouse }) => {
      const found = await findReadable(outputFolder(warehouse), "current");
      const data = Object.keys(found.manifest.rows).filter((table) => !isAboutTheRun(table));
      const tables = data.filter((table) => !goesOn || !table.endsWith("_history"));
      return { tables, source: sourceOf(found, { isQuestioned: true }) };
    }),
  );
  const [published, rebuilt] = runs;
  assert.ok(published !== undefined && rebuilt !== undefined);
  if (!goesOn) assert.equal(published.tables.length, DATA_TABLES.length);
  const compared = { published, rebuilt, temporaryDirectory: tmpdir() };
  assert.deepEqual(await differingTables(compared), []);
  assert.equal(other.verdict, one.verdict);
}

test("the sample is exported, served from its warehouse and exported again: all rows of data are equal", async (t) => {
  const [few] = await fewSampleNights(await temporaryFolder(t));
  const set = await loadContentSet(either(few, packagePath("data/sample")));
  t.after(() => set.close());
  const [user = ""] = set.tokens.values();
  const service = await createService({ data: { ...set, tokens: new Map([[CANARY, user]]) }, now });
  t.after(() => service.close());
  const destinations = set.destinations.map(({ identification: name, platform }) => ({ name, platform }));
  const config = { destinations, perPage: 100, details: undefined } as const;
  const first = await exported({ t, url: service.url, config });
  const again = await exported({ t, url: await kept(t, first.out), config });
  await assertEqualData(first.summary, again.summary);
  assert.equal(again.summary.requests, first.summary.requests);
});

/** While it is read one item is edited and one goes; one cannot be read singly, and the full listing has another order. */
function restless(service: Scripted): void {
  service.arrange = (items, { mode }) => (mode === "dynamic" ? items : items.toReversed());
  let isRead = false;
  service.script = ({ kind, mode, id }) => {
    if (kind === "item" && id === "c-011") return { body: { response: 5 } };
    if (kind === "list" && mode === "full" && !isRead) {
      isRead = true;
      const edited = item("c-005", 5, { title: "Edited", updated_at: "2026-11-02T10:00:00Z" });
      service.items = service.items
        .filter((each) => (each as Item).id !== "c-007")
        .map((each) => ((each as Item).id === "c-005" ? edited : each));
    }
    return undefined;
  };
}

long(
  "what was edited, went or was refused while it was read is served as it counted, unknown fields and large numbers too",
  async (t) => {
    const config = { details: "all", personalData: { policy: "keep", key: null } } as const;
    const odd = { colour: { code: 1 }, weight: 1e2, payment: 3 };
    const service = await Scripted.start(
      t,
      itemsOf(30).map((each, place) => (place % 3 === 0 ? { ...each, ...odd } : each)),
    );
    restless(service);
    const first = await exported({ t, url: service.url, config });
    assert.equal(first.summary.accounting.vanished, 1);
    const again = await exported({ t, url: await kept(t, first.out), config });
    assert.equal(again.summary.accounting.loaded, 29);
    await assertEqualData(first.summary, again.summary);
  },
);

long("a run that reused single items is served with what they say", async (t) => {
  const items = itemsOf(12).map((each, place) => ({ ...each, payment: place + 0.5 }));
  const service = await Scripted.start(t, items);
  service.arrange = (all) => all.map((each) => ({ ...(each as Item), payment: undefined }));
  const out = await temporaryFolder(t);
  const clock = new HurriedClock();
  const night = () => exportFrom({ url: service.url, out, clock, config: { details: "all" } });
  await night();
  const { directory, reused } = await night();
  assert.equal(reused?.count, 12);
  const again = await exported({
    t,
    url: await kept(t, out),
    config: { details: "all" },
    pipelineUrl: SMALL,
  });
  const rows = "SELECT content_id, title, payment FROM content ORDER BY 1";
  const expected = await rowsOf(directory, rows);
  assert.equal(new Set(expected.map(([, , payment]) => payment)).size, 12);
  assert.deepEqual(await rowsOf(again.summary.directory, rows), expected);
});

async function ask(url: string, path: string) {
  const authorization = `Basic ${Buffer.from(`${CANARY}:`).toString("base64")}`;
  const answer = await fetch(`${url}/api/v1/${path}`, { headers: { authorization } });
  return { status: answer.status, text: await answer.text() };
}

test("lists give what was asked for and unknown fields, in the order in which they were read; an item, by its ID, also what only it gives", async (t) => {
  const large = "12345678901234567890";
  const service = await Scripted.start(t, itemsOf(3));
  const body = (each: object) => JSON.stringify(each).replace('"LARGE"', large);
  service.script = (question) => {
    const columns = { excerpt: "short", payment: 5, wordcount: "LARGE", colour: "red" };
    const items = itemsOf(3).map((each) => ({ ...each, ...columns }));
    if (question.kind === "list") {
      const listed = question.mode === "full" ? items.toReversed() : items;
      return { body: body(listBody(listed, question)) };
    }
    return question.kind === "item"
      ? { body: body({ response: items.find(({ id }) => id === question.id) ?? {} }) }
      : undefined;
  };
  const { out } = await exported({ t, url: service.url, config: { details: "all" } });
  const url = await kept(t, out);
  const page = JSON.parse(
    (await ask(url, "content?columns[]=excerpt&columns[]=payment&per_page=2&page=2")).text,
  );
  assert.deepEqual([page.count, page.pagination.count, page.pagination.pages], [1, 3, 2]);
  const [listed] = page.response;
  assert.deepEqual(
    [listed.excerpt, listed.payment, listed.wordcount, listed.colour],
    ["short", undefined, undefined, "red"],
  );
  const single = await ask(url, `content/${listed.id}?columns[]=payment&columns[]=wordcount`);
  assert.ok(single.text.includes(`"wordcount":${large}`), single.text);
  assert.equal(JSON.parse(single.text).response.payment, 5);
  const basic = JSON.parse((await ask(url, "content?detail=basic&per_page=1")).text).response[0];
  assert.deepEqual(
    Object.keys(basic).filter((name) => !Object.hasOwn(BASIC_FIELDS, name)),
    [],
  );
  assert.equal(basic.updated_at?.length, 20);
  const idsOf = async (path: string) =>
    JSON.parse((await ask(url, path)).text).response.map(({ id }: Item) => id);
  const ids = itemsOf(3).map(({ id }) => id);
  assert.deepEqual(await idsOf("content"), ids);
  assert.deepEqual(await idsOf("content?detail=full"), ids.toReversed());
  assert.equal((await ask(url, "content/none")).status, 404);
  assert.equal((await fetch(`${url}/api/v1/content`)).status, 401);
});

test("a damaged raw file is named, and a run without raw documents is refused", async (t) => {
  const service = await Scripted.start(t, itemsOf(3));
  const { out } = await exported({ t, url: service.url, config: {}, pipelineUrl: SMALL });
  const file = join(out, "current/raw/extract.json");
  await chmod(file, 0o600);
  await appendFile(file, " ");
  await assert.rejects(kept(t, out), {
    code: "verify.failed",
    message: /raw\/extract\.json has another size/,
  });
  const without = await exported({ t, url: service.url, config: { raw: false }, pipelineUrl: SMALL });
  await assert.rejects(kept(t, without.out), { code: "config.not_found", message: /has no raw documents/ });
});

long("a run that reused single items of the night before is served whole", async (t) => {
  const service = await Scripted.start(
    t,
    itemsOf(12).map((each, place) => ({ ...each, payment: place })),
  );
  // The listing does not give what only single items do.
  service.arrange = (items) => items.map((each) => ({ ...(each as Item), payment: undefined }));
  const out = await temporaryFolder(t);
  const night = (clock = new HurriedClock()) =>
    exportFrom({ url: service.url, out, pipelineUrl: NIGHTLY, clock, config: { details: "all" } });
  await night();
  service.items = service.items.map((each) =>
    (each as Item).id === "c-003" ? { ...(each as Item), title: "Edited", payment: 99 } : each,
  );
  service.questions.length = 0;
  const second = await night();
  assert.deepEqual(
    service.asked("item").map(({ id }) => id),
    ["c-003"],
  );
  const again = await exported({ t, url: await kept(t, out), config: { details: "all" } });
  await assertEqualData(second, again.summary);
  const paid = await rowsOf(again.summary.directory, "SELECT sum(payment)::INTEGER FROM content");
  assert.deepEqual(paid, [[66 - 3 + 99]]);
});

long("aliases are served by the names of the specification, hashed values as their hashes", async (t) => {
  const service = await Scripted.start(
    t,
    itemsOf(6).map(({ title, ...each }) => ({
      ...each,
      headline: title,
      author_details: { id: "u1", name: "Anna", email: "anna@example.com" },
    })),
  );
  const key = new Secret("0123456789abcdef0123456789abcdef");
  const config = { aliases: { headline: "title" }, personalData: { policy: "hash", key } } as const;
  const first = await exported({ t, url: service.url, config });
  const url = await kept(t, first.out);
  const [listed] = JSON.parse(
    (await ask(url, "content?per_page=1&columns[]=title&columns[]=author_details")).text,
  ).response;
  assert.equal(listed.title, "Title of c-000");
  assert.match(listed.author_details.name, /^[0-9a-f]{64}$/);
  const again = await exported({ t, url, config: { personalData: { policy: "keep", key: null } } });
  await assertEqualData(first.summary, again.summary);
});

long("a run that is pruned while it is served is no reason to take its items for removed", async (t) => {
  const service = await Scripted.start(t, itemsOf(3));
  const { out, summary } = await exported({ t, url: service.url, config: {}, pipelineUrl: SMALL });
  const url = await kept(t, out);
  await removeTree(summary.directory);
  for (const path of ["content", "content/c-001"]) {
    const { status, text } = await ask(url, path);
    assert.equal(status, 503);
    assert.match(
      JSON.parse(text).error,
      /^Run 000001-\S+ was removed from the warehouse while it was served/,
    );
  }
});
