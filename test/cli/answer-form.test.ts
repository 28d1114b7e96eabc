/** Every question takes every form, and CSV has each of its parts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCommand } from "../../src/cli/commands/check.ts";
import { explainCommand } from "../../src/cli/commands/explain.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { everyCommand, program } from "../../src/cli/program.ts";
import { ANSWER_FORMATS, sectionName } from "../../src/show/answer.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { capture, outcome } from "./capture.ts";

test("every answer takes every form", async () => {
  const formats = everyCommand(await program()).flatMap((command) => {
    const format = command.options.find(({ long }) => long === "--format");
    return format?.description === "output" ? [[command.name(), format.argChoices]] : [];
  });
  assert.ok(formats.length >= 8, formats.join("; "));
  for (const [name, choices] of formats) assert.deepEqual(choices, ANSWER_FORMATS, String(name));
});

test("CSV has each part of an answer with all its rows", async () => {
  const asked = ["fellgate-mid", "--steps", "--warehouse", await sampleWarehouse()];
  const answer = JSON.parse(await capture(explainCommand, [...asked, "--json"]));
  const { argChoices = [] } = explainCommand().options.find(({ long }) => long === "--section") ?? {};
  const keys = Object.keys(answer).filter((key) => argChoices.includes(sectionName(key)));
  assert.deepEqual(keys.map(sectionName), argChoices);
  for (const [place, key] of keys.entries()) {
    // The first is what CSV has.
    const part = place === 0 ? [] : ["--section", sectionName(key)];
    const csv = await capture(explainCommand, [...asked, ...part, "--format", "csv"]);
    const [head = "", ...lines] = csv.split("\n");
    const rows = answer[key];
    assert.ok(lines.length > rows.length, key);
    if (rows.length > 0) assert.deepEqual(head.split(","), Object.keys(rows[0]));
  }
});

test("rejects are CSV with a line of names though there is none", async () => {
  const csv = await capture(runsCommand, [
    ...["show", "--section", "rejects", "--format", "csv"],
    ...["--warehouse", await sampleWarehouse()],
  ]);
  assert.match(csv, /^reject,mode,pass,page,position,content_id,reason,document,sha256\n$/);
});

test("the part with the steps needs no --steps, and that of a check that failed keeps its exit code", async () => {
  const out = await sampleWarehouse();
  const steps = ["fellgate-mid", "--section", "steps", "--format", "csv", "--warehouse", out];
  assert.ok((await capture(explainCommand, steps)).split("\n").length > 10);
  const args = ["--format", "csv", "--warehouse", out];
  const { exitCode, text } = await outcome(checkCommand, args, { env: {} });
  assert.deepEqual([exitCode, text.split("\n")[1]?.split(",")[0]], [2, "failed"]);
});
