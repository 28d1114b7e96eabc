import assert from "node:assert/strict";
import { appendFile, chmod, open, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { verifyCommand } from "../../../src/cli/commands/verify.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { acquireLock } from "../../../src/warehouse/lock.ts";
import type { Manifest } from "../../../src/warehouse/manifest.ts";
import { temporaryFolder } from "../../load/fixtures.ts";
import { few } from "../../long.ts";
import { asOrdinaryUser } from "../../run/as-ordinary-user.ts";
import { exportFrom } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { publish } from "../../warehouse/published.ts";
import { outcome } from "../capture.ts";

const FIRST = "000001-20261120T020000Z";
const SECOND = "000002-20261120T020000Z";
const TAGS = "parquet/content_tags/content_tags-000001-0000.parquet";

function verify(out: string, ...args: string[]): ReturnType<typeof outcome> {
  return outcome(verifyCommand, [...args, "--warehouse", out]);
}

/** A warehouse with one run; with its folder that can be written to. */
async function warehouse(t: TestContext): Promise<{ out: string; directory: string; manifest: Manifest }> {
  const out = await temporaryFolder(t);
  const manifest = await publish(out, 3);
  const directory = join(out, "runs", FIRST);
  await chmod(directory, 0o755);
  return { out, directory, manifest };
}

/** Changes one bit in the middle of a file, as a disk that rots. */
async function flipBit(file: string): Promise<void> {
  await chmod(file, 0o644);
  const handle = await open(file, "r+");
  const byte = Buffer.alloc(1);
  const position = Math.floor((await handle.stat()).size / 2);
  await handle.read(byte, 0, 1, position);
  await handle.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, position);
  await handle.close();
}

async function changeManifest(directory: string, change: (manifest: Manifest) => object): Promise<void> {
  const file = join(directory, "manifest.json");
  await chmod(file, 0o644);
  const manifest: Manifest = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, JSON.stringify({ ...manifest, ...change(manifest) }));
}

/** The findings of the current run, which must be damaged. */
async function findingsOf(out: string): Promise<string[]> {
  const { text, error } = await verify(out, "--json");
  assert.deepEqual([error?.code, error?.exitCode], ["verify.failed", 31]);
  const { ok, findings, runs } = JSON.parse(text);
  assert.equal(ok, false);
  assert.deepEqual(runs[0].findings, findings);
  for (const finding of findings) assert.match(finding, /^\S.*\.$/, "is a sentence");
  return findings;
}

test("a run that is as it was published is whole, in a line that says what was proven", async (t) => {
  const { out, manifest } = await warehouse(t);
  const { text, error } = await verify(out);
  assert.equal(error, undefined);
  assert.match(
    text,
    /^Whole: run 000001-20261120T020000Z \(current\), 5 files \(\d+ kB\), 6 rows in 2 tables\n$/,
  );
  const json = JSON.parse((await verify(out, "--json")).text);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  assert.deepEqual(json, {
    ok: true,
    warehouse: out,
    current: FIRST,
    findings: [],
    runs: [
      {
        ...{ run: FIRST, current: true, files: 5, bytes },
        ...{ tables: 2, rows: 6, denied: 0, findings: [] },
      },
    ],
  });
});

for (const path of [TAGS, "warehouse.duckdb"]) {
  test(`F20: a flipped bit in ${path} is found by its digest`, async (t) => {
    const { out, directory } = await warehouse(t);
    await flipBit(join(directory, path));
    const [finding] = await findingsOf(out);
    assert.equal(finding, `The file ${path} has different content: its SHA-256 differs.`);
  });
}

test("F20: a file that is missing, cut off, longer or too many is found, each with a sentence", async (t) => {
  const { out, directory, manifest } = await warehouse(t);
  const folder = join(directory, "parquet/content");
  await chmod(folder, 0o755);
  await rename(join(folder, "content-000001-0001.parquet"), join(folder, "content-000001-0009.parquet"));
  await chmod(join(directory, TAGS), 0o644);
  await writeFile(join(directory, TAGS), "PAR1");
  const other = join(directory, "parquet/content_tags/content_tags-000001-0001.parquet");
  await chmod(other, 0o644);
  await appendFile(other, "x");
  const findings = await findingsOf(out);
  const size = (end: string) => manifest.files.find(({ path }) => path.endsWith(end))?.bytes ?? 0;
  const tags = "parquet/content_tags/content_tags-000001";
  assert.deepEqual(findings.slice(0, 4), [
    "The file parquet/content/content-000001-0001.parquet is missing.",
    `The file ${tags}-0000.parquet has 4 bytes instead of ${size("tags-000001-0000.parquet")}.`,
    `The file ${tags}-0001.parquet has ${size("tags-000001-0001.parquet") + 1} bytes instead of ${size("tags-000001-0001.parquet")}.`,
    "The file parquet/content/content-000001-0009.parquet is not in the manifest.",
  ]);
  assert.match(findings[4] ?? "", /^The Parquet files cannot be read \(.*content_tags.*-0000\.parquet/);
  const { text, error } = await verify(out);
  assert.match(text, /^DAMAGED: run 000001-20261120T020000Z \(current\), \d findings\n {2}The file /);
  assert.match(error?.message ?? "", /^\d findings: go back to a whole run/);
});

test("F17: a log beside the database is found", async (t) => {
  const { out, directory } = await warehouse(t);
  await writeFile(join(directory, "warehouse.duckdb.wal"), "stale");
  const findings = await findingsOf(out);
  assert.deepEqual(findings.slice(0, 2), [
    "The file warehouse.duckdb.wal is not in the manifest.",
    "The file warehouse.duckdb.wal was left unfinished.",
  ]);
});

test("a database and Parquet files that do not have the rows of the manifest are found", async (t) => {
  const { out, directory } = await warehouse(t);
  await changeManifest(directory, ({ files }) => ({
    rows: { content: 4, other: 1 },
    files: files.map((file) => (file.path === TAGS ? { ...file, rows: 7 } : file)),
  }));
  const tables = ["DuckDB", "Parquet"].flatMap((where) => [
    `Table content has 3 rows in ${where} where 4 are expected.`,
    `Table other is missing in ${where}.`,
    `Table content_tags in ${where} is not expected.`,
  ]);
  assert.deepEqual(await findingsOf(out), [`The file ${TAGS} has 2 rows instead of 7.`, ...tables]);
});

test("what this user may not read is named, and says nothing against the rest of the run", async (t) => {
  const cases = [
    [TAGS, `The path ${TAGS} cannot be read (permission is denied).`],
    ["warehouse.duckdb", "The path warehouse.duckdb cannot be read (permission is denied)."],
    ["parquet/content_tags", "The path parquet/content_tags cannot be read (permission is denied)."],
  ] as const;
  for (const [path, finding] of cases) {
    const { out, directory } = await warehouse(t);
    await chmod(join(directory, path), 0);
    assert.deepEqual(await asOrdinaryUser(out, "verify"), {
      text: `NOT VERIFIED: run ${FIRST} (current), 1 finding\n  ${finding}\n`,
      code: "verify.failed",
      message: "1 finding: verify again as a user who can read all files of the run.",
    });
  }
});

test("a folder that is no run, or has something else than files in it, is found", async (t) => {
  const { out, directory } = await warehouse(t);
  await symlink("/etc/hostname", join(directory, "link"));
  assert.match((await findingsOf(out)).at(-1) ?? "", /link is neither a file nor a folder/);
  await rm(join(directory, "link"));
  await changeManifest(directory, () => ({ run: SECOND }));
  assert.deepEqual(await findingsOf(out), [`Its manifest is that of the run ${SECOND}.`]);
  await writeFile(join(directory, "manifest.json"), "{");
  assert.match((await findingsOf(out))[0] ?? "", /^The manifest .* cannot be read \(it is not JSON\)/);
  await writeFile(join(directory, "manifest.json"), JSON.stringify({ manifestVersion: 2 }));
  assert.equal((await verify(out)).error?.code, "config.newer_version");
});

test("one run is proven by its name or number, and all of them with --all", async (t) => {
  const { out, directory } = await warehouse(t);
  await publish(out, 2);
  await flipBit(join(directory, "warehouse.duckdb"));
  assert.match((await verify(out)).text, /^Whole: run 000002-20261120T020000Z \(current\)/);
  for (const run of ["1", FIRST]) {
    const { text, error } = await verify(out, run);
    assert.match(text, /^DAMAGED: run 000001-20261120T020000Z, /);
    assert.equal(error?.exitCode, 31);
  }
  const all = await verify(out, "--all");
  assert.match(all.text, /^Whole: run 000002.*\nDAMAGED: run 000001.*\n {2}The file warehouse\.duckdb/);
  assert.equal(all.error?.exitCode, 31);
  assert.equal((await verify(out, "7")).error?.code, "config.not_found");
  assert.equal((await verify(out, "1", "--all")).error?.code, "config.invalid");
});

test("current must name a run that is there", async (t) => {
  const { out } = await warehouse(t);
  const current = join(out, "current");
  await rm(current);
  for (const args of [[], ["1"], ["--all"]]) {
    const { text, error } = await verify(out, ...args);
    assert.match(text, /No run is current, though 000001-20261120T020000Z was published\.\n$/);
    assert.equal(error?.exitCode, 31);
  }
  await symlink(`runs/${SECOND}`, current);
  assert.equal((await verify(out)).text, `"current" names the run ${SECOND}, which is not there.\n`);
});

test("proving needs no lock, changes nothing, and leaves nothing behind", async (t) => {
  const { out, directory } = await warehouse(t);
  await using _lock = await acquireLock(outputFolder(out));
  const before = await readdir(out, { recursive: true });
  assert.equal((await verify(out)).error, undefined);
  assert.deepEqual(await readdir(out, { recursive: true }), before);
  const temporary = await readdir(tmpdir());
  assert.deepEqual(
    temporary.filter((name) => name.startsWith("content-warehouse-verify-")),
    [],
  );
  assert.equal((await readdir(directory)).includes("warehouse.duckdb.wal"), false);
});

for (const loader of few(["duckdb", "parquet"], 1)) {
  test(`a run of ${loader} alone, with raw documents, is whole until one of its files is damaged`, async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    const out = await temporaryFolder(t);
    const pipelineUrl = new URL(`../../run/${loader}-pipeline.ts`, import.meta.url).href;
    const { directory, run } = await exportFrom({ url: service.url, out, pipelineUrl });
    const { text, error } = await verify(out);
    assert.equal(error, undefined, text);
    assert.ok(text.startsWith(`Whole: run ${run} (current), `), text);
    const [raw] = await readdir(join(directory, "raw/full"));
    await flipBit(join(directory, "raw/full", raw ?? ""));
    assert.deepEqual((await findingsOf(out)).slice(0, 1), [
      `The file raw/full/${raw} has different content: its SHA-256 differs.`,
    ]);
  });
}
