import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { Writable } from "node:stream";
import { type TestContext, test } from "node:test";
import { rejectsCommand } from "../../../src/cli/commands/rejects.ts";
import { few, long } from "../../long.ts";
import { CANARY, exportFrom, HurriedClock, temporaryFolder } from "../../run/running.ts";
import { itemsOf, type Question, type Reply, Scripted } from "../../run/scripted.ts";
import { outcome } from "../capture.ts";

interface Rejected {
  readonly service: Scripted;
  readonly out: string;
  readonly rejects: (...args: string[]) => ReturnType<typeof outcome>;
}

const OTHER = "the answer is of another item than the one asked for";

/** Of 31 items, four are events: c-000 is well; the others are forbidden, poison, and confused with another. */
function troubles({ kind, id }: Question): Reply | undefined {
  if (kind !== "item") return undefined;
  if (id === "c-010") return { status: 403 };
  if (id === "c-020") return { status: 500 };
  return id === "c-030" ? { body: { response: itemsOf(1)[0] } } : undefined;
}

/** A warehouse whose current run rejected three items, and two things without an ID. */
async function warehouse(t: TestContext, pipeline = "small"): Promise<Rejected> {
  const service = await Scripted.start(t, [...itemsOf(31), null, { title: "=cmd()" }]);
  service.script = troubles;
  const out = await temporaryFolder(t);
  const pipelineUrl = new URL(`../../run/${pipeline}-pipeline.ts`, import.meta.url).href;
  const config = { details: "events", perPage: 100 } as const;
  await exportFrom({ url: service.url, out, pipelineUrl, threads: 1, clock: new HurriedClock(), config });
  service.script = () => undefined;
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  const err = new Writable({ write: (text) => assert.fail(String(text)) });
  return {
    service,
    out,
    rejects: (...args) => outcome(rejectsCommand, [...args, "--warehouse", out], { env, cwd: tmpdir(), err }),
  };
}

for (const pipeline of few(["small", "parquet"], 1)) {
  test(`the rejects of a run are listed with their reasons, from what the pipeline ${pipeline} published`, async (t) => {
    const { rejects } = await warehouse(t, pipeline);
    const { text, error } = await rejects();
    assert.equal(error, undefined);
    assert.equal(text, (await rejects("list")).text);
    const lines = text.split("\n").map((line) => line.split("│").map((cell) => cell.trim()));
    assert.deepEqual(lines[5]?.slice(1, -1), [
      "reject",
      "mode",
      "pass",
      "page",
      "position",
      "item",
      "reason",
    ]);
    const found = new Set(lines.slice(7).map((cells) => cells.slice(6, 8).join(" ")));
    for (const expected of [
      " the listed item is not an object",
      " the item has no id",
      "c-010 the service denied access to this item (403)",
      "c-020 the service fails when it is asked for the item (500)",
      `c-030 ${OTHER}`,
    ]) {
      assert.ok(found.has(expected), `${expected}\n${text}`);
    }
    assert.match(text, /^\d+ rejects in the run 000001-\S+Z\.\n/);
    const json: { content_id: string | null; document: string }[] = JSON.parse(
      (await rejects("--format", "json")).text,
    );
    assert.ok(json.some(({ document }) => document === '{"title":"=cmd()"}'));
    assert.ok(json.some(({ content_id }) => content_id === "c-010"));
  });
}

long("a run without rejects says so", async (t) => {
  const service = await Scripted.start(t, itemsOf(3));
  const out = await temporaryFolder(t);
  await exportFrom({ url: service.url, out, threads: 1 });
  const list = (...args: string[]) =>
    outcome(rejectsCommand, [...args, "--warehouse", out], { env: {}, cwd: out });
  assert.match((await list()).text, /^No rejects in the run 000001-\S+Z\.\n$/);
  assert.equal((await list("list", "--format", "json")).text, "[]\n");
  assert.equal((await list("retry")).error?.code, "config.missing_service");
});

test("items that were rejected are asked for again in the shapes of the run, and it is said which can be read now", async (t) => {
  const { service, out, rejects } = await warehouse(t);
  service.script = ({ kind, id }) => (kind === "item" && id === "c-010" ? { status: 403 } : undefined);
  service.items = itemsOf(30);
  service.questions.length = 0;
  const before = await readdir(out, { recursive: true });
  const { text, error } = await rejects("retry");
  assert.equal(error, undefined);
  const rows = text.split("\n").map((line) => line.split("│").map((cell) => cell.trim()));
  assert.deepEqual(
    rows.slice(6, 9).map((cells) => cells.slice(1, 3)),
    [
      ["c-010", "unreadable"],
      ["c-020", "readable"],
      ["c-030", "gone"],
    ],
  );
  assert.match(rows[6]?.[3] ?? "", /does not allow this API token to read \(403\)/);
  assert.match(text, /^1 of 3 items can be read now: the next run takes what it can read\.\n/);
  assert.match(text, /\n\d rejects without an ID cannot be asked for\.\n$/);
  assert.deepEqual(service.questions.map(({ kind, id }) => `${kind} ${id}`).sort(), [
    "item c-010",
    "item c-020",
    "item c-020",
    "item c-030",
  ]);
  assert.deepEqual(await readdir(out, { recursive: true }), before, "nothing is published");
  const { items } = JSON.parse((await rejects("retry", "--format", "json")).text);
  assert.deepEqual(items[1], { contentId: "c-020", now: "readable", reason: "" });
});

long("an item that can be read in one shape of the run alone is told as unreadable", async (t) => {
  const { service, rejects } = await warehouse(t);
  service.script = ({ kind, mode }) => (kind === "item" && mode === "full" ? { status: 403 } : undefined);
  const { items } = JSON.parse((await rejects("retry", "--format", "json")).text);
  assert.deepEqual(
    items.map(({ now }: { now: string }) => now),
    ["unreadable", "unreadable", "unreadable"],
  );
});

long("an answer that is still of another item, or cannot be read, is told as such", async (t) => {
  const { service, rejects } = await warehouse(t);
  service.script = ({ kind, id }) => {
    if (kind !== "item") return undefined;
    return { body: id === "c-010" ? { response: 7 } : { response: itemsOf(1)[0] } };
  };
  const { items } = JSON.parse((await rejects("retry", "--format", "json")).text);
  assert.deepEqual(
    items.map(({ now }: { now: string }) => now),
    ["unreadable", "unreadable", "unreadable"],
  );
  assert.equal(items[1].reason, OTHER);
});

long("a refused token ends the command, and another service is not asked", async (t) => {
  const { service, rejects } = await warehouse(t);
  service.script = () => ({ status: 401 });
  const { text, error } = await rejects("retry");
  assert.deepEqual([text, error?.code, error?.exitCode], ["", "source.credentials", 20]);
  assert.ok(!error?.message.includes(CANARY));
  const other = await Scripted.start(t, itemsOf(31));
  const { error: mixed } = await rejects("retry", "--url", other.url);
  assert.equal(mixed?.code, "config.other_instance");
  assert.match(mixed?.message ?? "", /; name the service that the run read, or /);
  assert.deepEqual(other.questions, []);
});
