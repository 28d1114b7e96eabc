/** Sections of `runs show` that are shown on request: rejects and drift. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { exportFrom, HurriedClock, temporaryFolder } from "../../run/running.ts";
import { item, itemsOf, type Question, type Reply, Scripted } from "../../run/scripted.ts";
import { capture } from "../capture.ts";

/** `runs show` with one of the sections that are shown on request. */
const shown = (out: string, args: readonly string[], columns?: number) =>
  capture(runsCommand, ["show", ...args, "--warehouse", out], columns);

/** Of 31 items, four are events: c-000 is well; the others are forbidden, poison, and confused with another. */
function troubles({ kind, id }: Question): Reply | undefined {
  if (kind !== "item") return undefined;
  if (id === "c-010") return { status: 403 };
  if (id === "c-020") return { status: 500 };
  return id === "c-030" ? { body: { response: itemsOf(1)[0] } } : undefined;
}

test("the rejects of a run are listed with their reasons", async (t) => {
  const service = await Scripted.start(t, [...itemsOf(31), null, { title: "=cmd()" }]);
  service.script = troubles;
  const out = await temporaryFolder(t);
  const config = { details: "events", perPage: 100 } as const;
  await exportFrom({ url: service.url, out, clock: new HurriedClock(), config });
  const text = await shown(out, ["--section", "rejects"]);
  const lines = text.split("\n").map((line) => line.split("│").map((cell) => cell.trim()));
  assert.equal(lines[5]?.slice(1, -1).join(), "reject,mode,pass,page,position,item,reason");
  const found = new Set(lines.slice(7).map((cells) => cells.slice(6, 8).join(" ")));
  for (const expected of [
    " the listed item is not an object",
    " the item has no id",
    "c-010 the service denied access to this item (403)",
    "c-020 the service failed for this item (500)",
    "c-030 the response is about another item",
  ])
    assert.ok(found.has(expected), `${expected}\n${text}`);
  assert.match(text, /^\d+ rejects in the run 000001-\S+Z\.\n/);
  const json: { rejects: { content_id: string | null; document: string }[] } = JSON.parse(
    await shown(out, ["--section", "rejects", "--format", "json"]),
  );
  assert.ok(json.rejects.some(({ document }) => document === '{"title":"=cmd()"}'));
  assert.ok(json.rejects.some(({ content_id }) => content_id === "c-010"));
});

test("drift names what is new since the run before, and of a first run says that there is nothing to compare", async (t) => {
  const items = (more: object) => ["a", "b", "c"].map((id, index) => item(id, index, { ...more }));
  const service = await Scripted.start(t, items({ mood: "glad", contact_email: "ann@example.org" }));
  const out = await temporaryFolder(t);
  const drift = (args: string[], columns?: number) => shown(out, [...args, "--section", "drift"], columns);
  const first = await exportFrom({ url: service.url, out });
  const before = JSON.parse(await drift(["--format", "json"]));
  assert.deepEqual([before.previousRun, before.vanishedFields], [null, []]);

  service.items = items({ feeling: "glad", slug: null });
  const second = await exportFrom({ url: service.url, out });
  const compared = await drift(["current"], 80);
  assert.match(compared, /│ slug +│ gone +│ +0 │ +3 │ slug-of-a/);
  assert.ok(
    compared.split("\n").every((line) => line.length <= 80),
    compared,
  );
  assert.match(
    compared.replaceAll("\n", " "),
    /Name fields of items in the setting `extraColumns` for columns of content_wide\./,
  );
  const { newFields, vanishedFields, ...rest } = JSON.parse(await drift(["2", "--format", "json"]));
  assert.deepEqual([rest.run, rest.previousRun], [second.run, first.run]);
  const isFeeling = ({ path }: { path: string }) => path === "feeling";
  assert.deepEqual(newFields.find(isFeeling), {
    path: "feeling",
    kind: "unknown_field",
    status: "new",
    count: 6,
    items: 3,
    before: 0,
    meaning: "",
    example: "glad",
    exampleContentId: "a",
  });
  const csv = await drift(["--format", "csv"]);
  for (const path of ["feeling", "contact_email", "mood", "slug"])
    assert.match(csv, new RegExp(`^${path},`, "m"));
  assert.deepEqual(
    vanishedFields.map(({ path }: { path: string }) => path),
    ["contact_email", "mood", "slug"],
  );
});

test("what the personal-data policy removed is counted beside the drift, and listed by itself", async (t) => {
  const user = { id: "u-1", name: "Ann", email: "ann@example.org" };
  const service = await Scripted.start(t, [item("a", 1, { mood: "glad", author_details: user })]);
  const out = await temporaryFolder(t);
  const config = { personalData: { policy: "drop", key: null } } as const;
  const { drift } = await exportFrom({ url: service.url, out, config });
  assert.deepEqual([drift?.policyFields, JSON.stringify(drift).includes("author_details.")], [2, false]);
  const [listed, alone] = await Promise.all(
    ["drift", "personal-data"].map((name) => shown(out, ["--section", name])),
  );
  assert.match(listed ?? "", /2 fields treated by\s+the personal-data policy: --section personal-data\./);
  assert.match(listed ?? "", /mood/);
  assert.doesNotMatch(listed ?? "", /author_details\./);
  assert.match(alone ?? "", /author_details\.email.*author_details\.name/s);
  assert.doesNotMatch(alone ?? "", /mood/);
  const csv = await shown(out, ["--section", "personal-data", "--format", "csv"]);
  assert.match(csv, /^path,[^\n]*\nauthor_details\.email,[^\n]*\nauthor_details\.name,[^\n]*\n$/);
});
