/** Which single items are asked for and kept together, and that each item gets what its answer gives. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { RunSummary } from "../../../src/observe/run-summary.ts";
import { few, long } from "../../long.ts";
import { exportFrom, rowsOf, temporaryFolder } from "../../run/running.ts";
import { type Item, itemsOf, listBody, type Question, Scripted } from "../../run/scripted.ts";
import { interrupted } from "../landing/resuming.ts";

const ITEMS = 40;
const BEGIN = "2026-12-01T00:00:00Z";
/** So that two pages are a group. */
const SPACES = " ".repeat(1_400_000);

/** A service whose listings leave out a field that single items have. */
async function serviceOf(t: TestContext): Promise<Scripted> {
  const service = await Scripted.start(
    t,
    itemsOf(ITEMS).map((item) => ({ ...item, tasks_begin_at: BEGIN })),
  );
  service.arrange = (items) => items.map((element) => ({ ...(element as Item), tasks_begin_at: undefined }));
  service.script = (question) => asListed(service, question);
  return service;
}

function asListed(service: Scripted, question: Question) {
  if (question.kind !== "list") return undefined;
  const listed = listBody(service.arrange(service.items, question), question);
  return { body: JSON.stringify(listed) + SPACES };
}

const BEGUN = "SELECT count(*), count(tasks_begin_at) FROM content";
const CONFIG = { perPage: 2, details: "all", columns: ["title", "tasks_begin_at"] } as const;

async function assertAllBegun(service: Scripted, out: string): Promise<RunSummary> {
  const summary = await exportFrom({ url: service.url, out, config: CONFIG });
  assert.equal(summary.verdict, "complete");
  assert.deepEqual(await rowsOf(summary.directory, BEGUN), [[`${ITEMS}`, `${ITEMS}`]]);
  return summary;
}

test("each item has what its own answer gives, also where several groups of pages are one of single items", async (t) => {
  await assertAllBegun(await serviceOf(t), await temporaryFolder(t));
});

const POINTS: Readonly<Record<string, (question: Question) => boolean>> = {
  "the single items": ({ kind, id }) => kind === "item" && id === "c-030",
  "the full listing": ({ mode, page }) => mode === "full" && page === 15,
};

for (const [where, at] of few(Object.entries(POINTS), 1)) {
  long(`G8: so it is where the run was ended in ${where}`, async (t) => {
    const service = await serviceOf(t);
    const { script } = service;
    const out = join(await temporaryFolder(t), "warehouse");
    await interrupted(service, { out, config: CONFIG }, at, script);
    service.script = script;
    const { resumed } = await assertAllBegun(service, out);
    assert.ok((resumed?.items ?? 0) >= 16, `${resumed?.items} single items were kept`);
  });
}
