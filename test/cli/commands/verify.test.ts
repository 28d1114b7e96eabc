import assert from "node:assert/strict";
import { appendFile, chmod, open, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { verifyCommand } from "../../../src/cli/commands/verify.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { acquireLock } from "../../../src/warehouse/lock.ts";
import { type Manifest, readManifest } from "../../../src/warehouse/manifest.ts";
import { few } from "../../long.ts";
import { asOrdinaryUser } from "../../run/as-ordinary-user.ts";
import { exportFrom, temporaryFolder } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { publish } from "../../warehouse/published.ts";
import { outcome } from "../capture.ts";
import { warehousesOf } from "../warehouses.ts";

const FIRST = "000001-20261120T020000Z";
const SECOND = "000002-20261120T020000Z";
const TAGS = "parquet/content_tags/content_tags-000001";

const copied = await warehousesOf(3);

function verify(out: string, ...args: string[]): ReturnType<typeof outcome> {
  return outcome(verifyCommand, [...args, "--warehouse", out]);
}

/** A warehouse with one run; with its folder that can be written to. */
async function warehouse(t: TestContext): Promise<{ out: string; directory: string; manifest: Manifest }> {
  const out = await copied(t);
  const directory = join(out, "runs", FIRST);
  await chmod(directory, 0o755);
  return { out, directory, manifest: await readManifest(directory) };
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

async function write(file: string, text: string): Promise<void> {
  await chmod(file, 0o644);
  await writeFile(file, text);
}

async function changeManifest(directory: string, change: (manifest: Manifest) => object): Promise<void> {
  const file = join(directory, "manifest.json");
  const manifest: Manifest = JSON.parse(await readFile(file, "utf8"));
  await write(file, JSON.stringify({ ...manifest, ...change(manifest) }));
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
  const run = { run: FIRST, current: true, files: 5, bytes, tables: 2, rows: 6, denied: 0, findings: [] };
  assert.deepEqual(json, { ok: true, warehouse: out, current: FIRST, findings: [], runs: [run] });
});

/** What happens to a run's folder, and the first findings. */
const DAMAGES: Readonly<
  Record<string, readonly [damage: (directory: string) => Promise<unknown>, ...findings: readonly string[]]>
> = {
  "F20: a flipped bit in a Parquet file": [
    (directory) => flipBit(join(directory, `${TAGS}-0000.parquet`)),
    `The file ${TAGS}-0000.parquet has different content: its SHA-256 differs.`,
  ],
  "F20: a flipped bit in the database": [
    (directory) => flipBit(join(directory, "warehouse.duckdb")),
    "The file warehouse.duckdb has different content: its SHA-256 differs.",
  ],
  "F17: a log beside the database": [
    (directory) => writeFile(join(directory, "warehouse.duckdb.wal"), "stale"),
    "The file warehouse.duckdb.wal is not in the manifest.",
    "The file warehouse.duckdb.wal was left unfinished.",
  ],
  "rows that are not those of the manifest": [
    (directory) =>
      changeManifest(directory, ({ files }) => ({
        rows: { content: 4, other: 1 },
        files: files.map((file) => (file.path === `${TAGS}-0000.parquet` ? { ...file, rows: 7 } : file)),
      })),
    `The file ${TAGS}-0000.parquet has 2 rows instead of 7.`,
    ...["DuckDB", "Parquet"].flatMap((where) => [
      `Table content has 3 rows in ${where} where 4 are expected.`,
      `Table other is missing in ${where}.`,
      `Table content_tags in ${where} is not expected.`,
    ]),
  ],
  "the manifest of another run": [
    (directory) => changeManifest(directory, () => ({ run: SECOND })),
    `Its manifest is that of the run ${SECOND}.`,
  ],
};

for (const [what, [damage, ...expected]] of Object.entries(DAMAGES))
  test(`${what} is found`, async (t) => {
    const { out, directory } = await warehouse(t);
    await damage(directory);
    assert.deepEqual((await findingsOf(out)).slice(0, expected.length), expected);
  });

test("F20: a file that is missing, cut off, longer or too many is found, each with a sentence", async (t) => {
  const { out, directory, manifest } = await warehouse(t);
  const folder = join(directory, "parquet/content");
  await chmod(folder, 0o755);
  await rename(join(folder, "content-000001-0001.parquet"), join(folder, "content-000001-0009.parquet"));
  await write(join(directory, `${TAGS}-0000.parquet`), "PAR1");
  const other = join(directory, `${TAGS}-0001.parquet`);
  await chmod(other, 0o644);
  await appendFile(other, "x");
  const findings = await findingsOf(out);
  const size = (end: string) => manifest.files.find(({ path }) => path.endsWith(end))?.bytes ?? 0;
  assert.deepEqual(findings.slice(0, 4), [
    "The file parquet/content/content-000001-0001.parquet is missing.",
    `The file ${TAGS}-0000.parquet has 4 bytes instead of ${size("tags-000001-0000.parquet")}.`,
    `The file ${TAGS}-0001.parquet has ${size("tags-000001-0001.parquet") + 1} bytes instead of ${size("tags-000001-0001.parquet")}.`,
    "The file parquet/content/content-000001-0009.parquet is not in the manifest.",
  ]);
  assert.match(findings[4] ?? "", /^The Parquet files cannot be read \(.*content_tags.*-000[01]\.parquet/);
  const { text, error } = await verify(out);
  assert.match(text, /^DAMAGED: run 000001-20261120T020000Z \(current\), \d findings\n {2}The file /);
  assert.match(
    error?.message ?? "",
    /^\d findings: run again, which writes .*, or find a whole run with "verify --all"/,
  );
});

test("what this user may not read is named, and says nothing against the rest of the run", async (t) => {
  for (const path of few([`${TAGS}-0000.parquet`, "warehouse.duckdb", "parquet/content_tags"], 2)) {
    const { out, directory } = await warehouse(t);
    await chmod(join(directory, path), 0);
    assert.deepEqual(await asOrdinaryUser(out, "verify"), {
      text: `NOT VERIFIED: run ${FIRST} (current), 1 finding\n  The path ${path} cannot be read (permission is denied).\n`,
      code: "verify.failed",
      message: "1 finding: verify again as a user who can read all files of the run.",
    });
  }
});

test("a link, and a manifest that cannot be read, are found", async (t) => {
  const { out, directory } = await warehouse(t);
  await symlink("/etc/hostname", join(directory, "link"));
  assert.match((await findingsOf(out)).at(-1) ?? "", /link is neither a file nor a folder/);
  await write(join(directory, "manifest.json"), "{");
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
  const out = await copied(t);
  const current = join(out, "current");
  await rm(current);
  for (const args of [[], ["--all"]]) {
    const { text, error } = await verify(out, ...args);
    assert.match(text, /No run is current, though 000001-20261120T020000Z was published\.\n$/);
    assert.equal(error?.exitCode, 31);
  }
  await symlink(`runs/${SECOND}`, current);
  assert.equal((await verify(out)).text, `"current" names the run ${SECOND}, which is not there.\n`);
});

test("proving needs no lock, changes nothing, and leaves nothing behind", async (t) => {
  const out = await copied(t);
  await using _lock = await acquireLock(outputFolder(out));
  const before = await readdir(out, { recursive: true });
  assert.equal((await verify(out)).error, undefined);
  assert.deepEqual(await readdir(out, { recursive: true }), before);
  const temporary = await readdir(tmpdir());
  assert.ok(!temporary.some((name) => name.startsWith(`content-warehouse-verify-${process.pid}-`)));
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
    const [finding] = await findingsOf(out);
    assert.equal(finding, `The file raw/full/${raw} has different content: its SHA-256 differs.`);
  });
}
