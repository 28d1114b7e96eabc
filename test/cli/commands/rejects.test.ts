import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { Writable } from "node:stream";
import { type TestContext, test } from "node:test";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { few } from "../../long.ts";
import { CANARY, exportFrom, HurriedClock, temporaryFolder } from "../../run/running.ts";
import { itemsOf, type Question, type Reply, Scripted } from "../../run/scripted.ts";
import { outcome } from "../capture.ts";

interface Rejected {
  readonly service: Scripted;
  readonly out: string;
  readonly rejects: (...args: string[]) => ReturnType<typeof outcome>;
}

const OTHER = "the response is about another item";

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
  await exportFrom({ url: service.url, out, pipelineUrl, clock: new HurriedClock(), config });
  service.script = () => undefined;
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  const err = new Writable({ write: (text) => assert.fail(String(text)) });
  return {
    service,
    out,
    rejects: (...args) =>
      outcome(runsCommand, ["show", "--section", "rejects", ...args, "--warehouse", out], {
        env,
        cwd: tmpdir(),
        err,
      }),
  };
}

for (const pipeline of few(["small", "parquet"], 1)) {
  test(`the rejects of a run are listed with their reasons, from what the pipeline ${pipeline} published`, async (t) => {
    const { rejects } = await warehouse(t, pipeline);
    const { text, error } = await rejects();
    assert.equal(error, undefined);
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
      "c-020 the service failed for this item (500)",
      `c-030 ${OTHER}`,
    ]) {
      assert.ok(found.has(expected), `${expected}\n${text}`);
    }
    assert.match(text, /^\d+ rejects in the run 000001-\S+Z\.\n/);
    const { rejects: json }: { rejects: { content_id: string | null; document: string }[] } = JSON.parse(
      (await rejects("--format", "json")).text,
    );
    assert.ok(json.some(({ document }) => document === '{"title":"=cmd()"}'));
    assert.ok(json.some(({ content_id }) => content_id === "c-010"));
  });
}
