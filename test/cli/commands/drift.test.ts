import assert from "node:assert/strict";
import { test } from "node:test";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { exportFrom, temporaryFolder } from "../../run/running.ts";
import { item, Scripted } from "../../run/scripted.ts";
import { capture } from "../capture.ts";

test("drift names what is new since the run before, and of a first run says that there is nothing to compare", async (t) => {
  const items = (more: object) => ["a", "b", "c"].map((id, index) => item(id, index, { ...more }));
  const service = await Scripted.start(t, items({ mood: "glad", contact_email: "ann@example.org" }));
  const out = await temporaryFolder(t);
  const drift = (args: string[], columns?: number) =>
    capture(runsCommand, ["show", ...args, "--section", "drift", "--warehouse", out], columns);
  const first = await exportFrom({ url: service.url, out });
  const text = await drift([], 80);
  assert.match(text, new RegExp(`^${first.run} is the first run of this warehouse, so there is nothing`));
  assert.match(text, /\nNew fields \(not in the specification\)\n/);
  assert.match(text, /│ mood +│ +6 │ +3 │ glad /);
  assert.match(text, /\nVanished fields \(no value any more\): none\n/);
  assert.match(text, /\nDone by the personal-data policy\n(?:.*\n){3}│ contact_email +│ +6 │ +│ dropped /);

  service.items = items({ feeling: "glad", slug: null });
  const second = await exportFrom({ url: service.url, out });
  const compared = await drift(["current"], 80);
  const lines = compared.split("\n");
  assert.match(
    compared.replaceAll("\n", " "),
    new RegExp(`^Run ${second.run}, compared with ${first.run}\\.`),
  );
  assert.match(compared, /│ feeling +│ new +│ +6 │ +3 │ +0 │ glad/);
  assert.match(compared, /│ slug +│ gone +│ +0 │ +│ +3 │ slug-of-a/);
  assert.match(compared, /│ mood +│ gone +│ +0 │/);
  assert.ok(
    lines.every((line) => line.length <= 80),
    compared,
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
