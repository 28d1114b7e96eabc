import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { auditCommand } from "../../../src/cli/commands/audit.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { all } from "../../../src/storage/duckdb.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { few } from "../../long.ts";
import { capture, outcome } from "../capture.ts";
import { program } from "../running.ts";

const out = await sampleWarehouse();
const audit = (...args: string[]) => capture(auditCommand, [...args, "--warehouse", out]);

test("a screen gets every part of the answer, and its lines fit", async () => {
  const text = await capture(auditCommand, ["--warehouse", out], 80);
  for (const title of [
    "Coverage, in values",
    "Destinations",
    "Values that are unmapped, unknown, archived or ambiguous",
    "Mapping entries that no item uses",
    "Name collisions",
  ]) {
    assert.match(text, new RegExp(`${title}\\n(Percentages, |[^\\n]+\\n)?[^┌]*┌`));
  }
  assert.match(
    text.replaceAll("\n", " "),
    /^7,225 values at destinations that receive values, in run 000001-\S+Z: 5,468 mapped, 662 missing \(654 unmapped, 8 unknown\), 1,095 of fields without value mappings\. Of these, 396 are ambiguous, 493 share a name\. 505 more values at destinations that receive nothing\. /,
  );
  for (const line of text.split("\n")) assert.ok(line.length <= 80, line);
  assert.match(text, /\nPrint Archive \(supports no mappings\)\n┌/);
  assert.doesNotMatch(text, /left out/);
});

test("json has the parts by name with every column, and csv has one part", async () => {
  const answer = JSON.parse(await audit("1", "--format", "json"));
  assert.deepEqual(Object.keys(answer), [
    "run",
    "verdict",
    "passthrough",
    "totals",
    "receiving",
    "lead",
    "coverage",
    "destinations",
    "values",
    "unused_entries",
    "collisions",
  ]);
  const web = answer.coverage.find(
    (row: Record<string, unknown>) => row.destination === "Web CMS" && row.custom_field === "region",
  );
  assert.equal(web.values, web.mapped + web.unmapped + web.unknown_value + web.no_value_mapping);
  const csv = await audit("--format", "csv", "--destination", "Web CMS", "--field", "region");
  const [head = "", line = "", ...rest] = csv.split("\n");
  assert.deepEqual(rest, [""]);
  assert.deepEqual(head.split(","), Object.keys(web));
  assert.deepEqual(line.split(","), Object.values(web).map(String));
  assert.match(
    await audit("--format", "csv", "--section", "collisions"),
    /^destination_id,.*\n.*,market,"launch_market, region",\d+\n$/,
  );
});

/** Values of the audit that the exported mapping has, by their IDs: how many, and how many of which text it names alike. */
const JOINED = (values: string, mapping: string) => `
  SELECT count(*)::INTEGER AS rows, count_if(v.value = m.value)::INTEGER AS alike,
    count_if(v.display = m.display)::INTEGER AS displayed_alike, count_if(m.value <> m.display)::INTEGER AS differing
  FROM read_csv('${values}', all_varchar := true) v
  JOIN read_csv('${mapping}', all_varchar := true) m USING (destination_id, custom_field_id, value_id)`;

test("H19: the exported mapping and the values join by `value`, the internal text, and by `display`", async () => {
  const [values, mapping] = [join(out, "..", "values.csv"), join(out, "..", "joined.csv")];
  await writeFile(values, await audit("--section", "values", "--format", "csv", "--export-mapping", mapping));
  const connection = await (await DuckDBInstance.create()).connect();
  const [{ rows, differing, ...alike } = {}] = await all(connection, JOINED(values, mapping));
  assert.ok(Number(rows) > 20 && Number(differing) > 0, `${rows} rows, in ${differing} the texts differ`);
  assert.deepEqual(alike, { alike: rows, displayed_alike: rows });
});

test("with --fail-on too many values end with 25 and a sentence, after the answer", async () => {
  const run = (...args: string[]) => outcome(auditCommand, [...args, "--warehouse", out]);
  const { text, error } = await run("--fail-on", "unknown_value,unmapped=100000");
  assert.ok(text.includes("Coverage, in values"));
  assert.deepEqual([error?.code, error?.exitCode], ["audit.threshold", 25]);
  assert.match(
    error?.message ?? "",
    /^There are 8 unknown values at destinations that receive values \(limit: 0; most of them in \w+ at [\w ]+: \d+\); .*\.$/,
  );
  assert.equal((await run("--fail-on", "unknown_value=8,unmapped=654")).error, undefined);
  assert.match(
    (await run("--fail-on", "unmapped=653,collision=1")).error?.message ?? "",
    /654 unmapped values at .* \(limit: 653; .* and 493 values sent under a name/,
  );
  assert.equal(
    (await run("--fail-on", "collision", "--field", "season")).error,
    undefined,
    "only what the filters let through counts",
  );
  assert.equal(
    (await run("--fail-on", "unmapped", "--destination", "Print Archive:Archive")).error,
    undefined,
    "it supports no mappings",
  );
});

test("no file is written among what is published, by whatever way", async () => {
  const warehouse = await realpath(out);
  await symlink(join(warehouse, "runs"), join(warehouse, "..", "way"));
  for (const file of few(["current/new.csv", "runs/new.json", ".staging/new.csv", "../way/new.csv"], 2)) {
    const { code, stderr } = await program([
      "audit",
      "--warehouse",
      out,
      "--export-mapping",
      join(warehouse, file),
    ]);
    assert.equal(code, 2, file);
    assert.match(stderr, /would lie among .*never change; name another with --export-mapping\./);
  }
});

test("a file that cannot be written is told before anything is asked, and a failure leaves the file as it was", async () => {
  const asked = (file: string, ...args: string[]) =>
    outcome(auditCommand, ["--warehouse", out, "--export-mapping", file, ...args]);
  const { text, error } = await asked(join(out, "no", "m.csv"));
  assert.equal(text, "");
  assert.match(error?.message ?? "", /cannot be written \(ENOENT\)/);
  const [kept, fresh] = [join(out, "..", "kept.csv"), join(out, "..", "fresh.csv")];
  await writeFile(kept, "mine");
  for (const file of [kept, fresh]) {
    assert.equal((await asked(file, "--destination", "Nowhere")).error?.code, "answer.nothing");
  }
  assert.equal(await readFile(kept, "utf8"), "mine");
  await assert.rejects(stat(fresh), { code: "ENOENT" });
});

test("a disk without room ends with 30 and leaves the file as it was, and a whole one keeps its rights", async () => {
  const folder = join(out, "..", "full");
  const file = join(folder, "mapping.csv");
  await mkdir(folder);
  await writeFile(file, "mine", { mode: 0o640 });
  const args = [packagePath("src/cli/main.ts"), "audit", "--warehouse", out, "--export-mapping", file];
  const limited = 'ulimit -f 1; exec "$0" "$@"';
  const child = spawn("bash", ["--norc", "-c", limited, process.execPath, ...args], {
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  assert.deepEqual([code, said], [30, "A file reached its size limit (EFBIG); raise it (ulimit -f).\n"]);
  assert.deepEqual([await readFile(file, "utf8"), await readdir(folder)], ["mine", ["mapping.csv"]]);
  await audit("--export-mapping", file);
  assert.match(
    await readFile(file, "utf8"),
    /^custom_field_id,custom_field,destination_id,destination,mapping_id,external_field_name,mapping_value_id,value_id,value,display,external_value\n/,
  );
  assert.deepEqual([(await stat(file)).mode & 0o777, await readdir(folder)], [0o640, ["mapping.csv"]]);
});
