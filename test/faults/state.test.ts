import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { program } from "../cli/running.ts";
import { long } from "../long.ts";
import {
  CANARY,
  HurriedClock,
  publishedIds,
  rowsOf,
  scriptedWorld,
  temporaryFolder,
} from "../run/running.ts";
import { item, itemsOf, Scripted } from "../run/scripted.ts";

/** Someone sets the clock every time it is looked at: by so many milliseconds at the look of that number. */
class SetClock extends HurriedClock {
  readonly #by: (look: number) => number;
  #looks = 0;

  constructor(by: (look: number) => number) {
    super();
    this.#by = by;
  }

  override now(): number {
    this.#looks += 1;
    return super.now() + this.#by(this.#looks);
  }
}

long(
  "G4: an item whose last update lies in the far future hides nothing, in this run and the next",
  async (t) => {
    const future = item("c-100", 1, { updated_at: "2999-12-31T23:59:59Z" });
    const { service, exported } = await scriptedWorld(t, [...itemsOf(6), future]);
    const first = await exported();
    const changed = item("c-003", 1, { title: "Later", updated_at: "2026-11-19T00:00:00Z" });
    service.items = [...itemsOf(8).filter(({ id }) => id !== "c-003"), changed, future];
    const second = await exported();
    assert.deepEqual([first.verdict, second.verdict], ["complete", "complete"]);
    assert.equal((await publishedIds(second.directory)).length, 9);
    assert.deepEqual(
      await rowsOf(
        second.directory,
        "SELECT content_id, title FROM content WHERE title = 'Later' OR updated_at > '2900-01-01'",
      ),
      [
        ["c-003", "Later"],
        ["c-100", "Title of c-100"],
      ],
    );
  },
);

test("G5, G9, G10, I2: a clock that jumps by days changes neither the order of runs nor what they hold, ask and say of themselves", async (t) => {
  const { service, out, exported } = await scriptedWorld(t, itemsOf(6));
  const clock = new SetClock((look) => (look % 2 === 0 ? 1 : -1) * 86_400_000);
  for (const sequence of [1, 2]) {
    service.questions.length = 0;
    const summary = await exported({ clock });
    const { directory, run, verdict } = summary;
    assert.deepEqual([summary.sequence, verdict, service.questions.length], [sequence, "complete", 4]);
    assert.ok(summary.milliseconds >= 0);
    assert.deepEqual(await rowsOf(directory, "SELECT ended_at >= started_at FROM run"), [[true]]);
    assert.equal(await readlink(join(out, "current")), `runs/${run}`);
    assert.equal((await publishedIds(directory)).length, 6);
    const inParquet = `SELECT run, sequence FROM '${directory}/parquet/run/*.parquet'`;
    assert.deepEqual(await rowsOf(directory, "SELECT run, sequence FROM run"), [[run, sequence]]);
    assert.deepEqual(await rowsOf(directory, inParquet), [[run, sequence]]);
    const format = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal";
    assert.match(String((await rowsOf(directory, format))[0]?.[0]), /v1\.4\.0/);
    const manifest = await readManifest(directory);
    assert.deepEqual([manifest.run, manifest.versions.node], [run, process.versions.node]);
    for (const version of Object.values(manifest.versions)) assert.match(version, /^v?\d+\.\d+\.\d+/);
  }
});

/** The environment's zone and language must not show in the data. */
const PLACES = [
  { TZ: "UTC", LC_ALL: "C" },
  { TZ: "Pacific/Apia", LC_ALL: "tr_TR.UTF-8" },
];

long(
  "G7: the same answers give the same Parquet bytes whatever the machine's zone and language",
  async (t) => {
    const times = { created_at: "2026-03-29T01:30:00.123456Z", updated_at: "2011-12-30T10:00:00Z" };
    const words = { title: "ISTANBUL ılık İZMİR", tags: ["i", "I", "İ", "ı", "ä", "z"] };
    const service = await Scripted.start(t, [item("c-İ", 1, { ...times, ...words }), ...itemsOf(12)]);
    const digests: string[][] = [];
    for (const place of PLACES) {
      const out = join(await temporaryFolder(t), "warehouse");
      const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY, ...place };
      const { code, stderr } = await program(["run", "nightly", "--warehouse", out], { env });
      assert.equal(code, 0, stderr);
      digests.push(await dataDigests(join(out, "current", "parquet")));
    }
    assert.ok((digests[0]?.length ?? 0) > 30);
    assert.deepEqual(digests[1], digests[0]);
  },
);

/** File and SHA-256 of every Parquet file of the data tables. */
async function dataDigests(folder: string): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true });
  // The histories name the run and its instants.
  const files = paths.filter((path) => /^(?!run\/|run_|[a-z_]+_history\/).*\.parquet$/.test(path));
  return Promise.all(
    files.sort().map(async (path) => {
      const bytes = await readFile(join(folder, path));
      return `${path} ${createHash("sha256").update(bytes).digest("hex")}`;
    }),
  );
}

long(
  "F12: an exception that nobody caught ends the program, publishes nothing, and the next run needs no help",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    const folder = await temporaryFolder(t);
    const pipeline = join(folder, "surprise.ts");
    const small = packagePath("test/run/small-pipeline.ts");
    await writeFile(
      pipeline,
      `import { isMainThread } from "node:worker_threads";
     import small from ${JSON.stringify(small)};
     if (isMainThread && process.env.SURPRISE) setTimeout(() => { throw new Error("surprise"); }, 50);
     export default small;`,
    );
    const out = join(folder, "warehouse");
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
    service.script = ({ page }) => (page === 2 ? "hang" : undefined);
    const failed = await program(["run", pipeline, "--warehouse", out], { env: { ...env, SURPRISE: "1" } });
    assert.equal(failed.code, 1, failed.stderr);
    assert.ok(!`${failed.stdout}${failed.stderr}`.includes(CANARY));
    await assert.rejects(readlink(join(out, "current")), { code: "ENOENT" });
    service.script = () => undefined;
    const next = await program(["run", pipeline, "--warehouse", out], { env });
    assert.equal(next.code, 0, next.stderr);
    assert.match(await readlink(join(out, "current")), /^runs\//);
  },
);
