/** Many instances into one lake, by the line of docs/operations.md; some are killed while they deliver. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packagePath } from "../../../src/common/package-root.ts";
import { readTable } from "../../../src/targets/lake/delta/log.ts";
import { activeFiles } from "../../../src/targets/lake/delta/state.ts";
import { hasDigest } from "../../../src/targets/lake/keys.ts";
import { lake } from "../../../src/targets/lake/lake.ts";
import { verifyLake } from "../../../src/targets/lake/stored-run.ts";
import { FileStore } from "../../../src/targets/store/file-store.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { COMPILE_CACHE } from "../../compile-cache.ts";
import { temporaryFolder } from "../../folders.ts";
import { long } from "../../long.ts";
import { NEVER } from "../../never.ts";

const NAMES = Array.from({ length: 8 }, (_, at) => `i${at + 10}`);
/** Objects that an instance has put into the lake when it is killed: its claim, then some or all of its tables. */
const KILLS: Readonly<Record<string, number>> = { i10: 3, i13: 3, i16: 5, i17: 8 };

/**
 * Stands in for the command, with a pipeline of few tables. A killed program ends with 1, since `xargs` starts nothing more
 * after a signal.
 */
const COMMAND = `#!/bin/sh
shift 2
for config; do :; done
DIE_AT="$(cat "$config.die" 2>/dev/null)" && rm "$config.die" && export DIE_AT
"$NODE" \${DIE_AT:+"--import=$DYING"} "$PROGRAM" run "$PIPELINE" "$@" --sample
code=$?
[ $code -lt 128 ] || exit 1
exit $code
`;

long(
  "8 instances, 3 at a time, some killed and run again, leave a lake that equals single runs",
  async (t) => {
    const folder = await temporaryFolder(t);
    const env = {
      ...COMPILE_CACHE,
      PATH: `${folder}:${process.env.PATH}`,
      NODE: process.execPath,
      DYING: packagePath("test/targets/lake/die-at.ts"),
      PROGRAM: packagePath("src/cli/main.ts"),
      PIPELINE: packagePath("test/engines/small-pipeline.ts"),
    };
    const run = (line: string) =>
      new Promise<{ readonly code: unknown; readonly stderr: string }>((resolve) => {
        execFile("sh", ["-c", line], { cwd: folder, env }, (error, _, stderr) =>
          resolve({ code: error?.code ?? 0, stderr }),
        );
      });
    await writeFile(join(folder, "content-warehouse"), COMMAND, { mode: 0o755 });
    const configure = async (name: string, lakeFolder: string) => {
      await mkdir(join(folder, "instances"), { recursive: true });
      const url = pathToFileURL(join(folder, lakeFolder)).href;
      const targets = [{ type: "lake", url, instance: name }];
      const config = { warehouse: `../warehouses/${name}`, targets };
      await writeFile(join(folder, `instances/${name}.json`), JSON.stringify(config));
    };
    const page = await readFile(packagePath("docs/operations.md"), "utf8");
    const [line, xargs = ""] = /^ls instances\/\*\.json (\| xargs -P3 .+)$/m.exec(page) ?? assert.fail();

    await configure("single", "single/lake");
    assert.equal((await run(line)).code, 0);
    await rm(join(folder, "instances"), { recursive: true });

    for (const name of NAMES) await configure(name, "shared/lake");
    for (const [name, at] of Object.entries(KILLS))
      await writeFile(join(folder, `instances/${name}.json.die`), String(at));
    const first = await run(line);
    assert.equal(first.code, 123, first.stderr);
    const address = pathToFileURL(join(folder, "shared/lake")).href;
    const manifestOf = (name: string) => readManifest(outputFolder(join(folder, "warehouses", name)).current);
    const lakeOf = (name: string) => lake({ url: address, instance: name });
    for (const name of NAMES) {
      const last = await lakeOf(name).last(null, NEVER);
      assert.equal(last?.run, name in KILLS ? undefined : (await manifestOf(name)).run, name);
    }
    const killed = Object.keys(KILLS).map((name) => `instances/${name}.json\\n`);
    const again = await run(`printf '${killed.join("")}' ${xargs}`);
    assert.equal(again.code, 0, again.stderr);

    await using store = new FileStore(join(folder, "shared/lake"), NEVER);
    const filesIn = ({ files }: Awaited<ReturnType<typeof manifestOf>>, table: string) =>
      files.flatMap(({ path, sha256 }) => (path.startsWith(`parquet/${table}/`) ? [sha256] : []));
    const single = await manifestOf("single");
    for (const name of NAMES) {
      const manifest = await manifestOf(name);
      assert.equal((await lakeOf(name).last(null, NEVER))?.run, manifest.run);
      const { findings } = await lakeOf(name).open(NEVER, (place) => verifyLake(place, { full: true }));
      assert.deepEqual(findings, [], name);
      for (const table of ["content", "content_tags"])
        assert.deepEqual(filesIn(manifest, table), filesIn(single, table), `${table} of ${name}`);
      for (const table of Object.keys(single.rows)) {
        const found = activeFiles((await readTable(store, table)) ?? assert.fail(table), name);
        const digests = filesIn(manifest, table);
        const isRun = found.every(({ path }) => digests.some((each) => hasDigest(path, each)));
        assert.ok(isRun && found.length === digests.length, `${table} of ${name}`);
      }
    }
  },
);
