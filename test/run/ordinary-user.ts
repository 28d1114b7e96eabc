/**
 * What an ordinary user may do in the folder that is the argument. Modes do not bind root, so root becomes nobody
 * once everything is loaded.
 */
import { chmod, chown, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import { systemClock } from "../../src/common/clock.ts";
import { asWarehouseError } from "../../src/common/errors.ts";
import { openForReading, openForScanning } from "../../src/storage/database.ts";
import { all } from "../../src/storage/duckdb.ts";
import { readParquet } from "../../src/storage/parquet-sql.ts";
import { currentRun, nextRun } from "../../src/warehouse/layout.ts";
import { prepareOutput } from "../../src/warehouse/lock.ts";
import { finishPublication, publishRun } from "../../src/warehouse/publish.ts";
import { prune } from "../../src/warehouse/retention.ts";
import { capture, outcome as outcomeOf } from "../cli/capture.ts";
import { buildResult, NIGHT, publish, statement } from "../warehouse/published.ts";

const NOBODY = 65534;
const [out = "", action = ""] = process.argv.slice(2);

async function mode(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

async function outcome(step: () => Promise<unknown>): Promise<string> {
  try {
    await step();
    return "done";
  } catch (thrown) {
    if (String(thrown).endsWith(": Permission denied")) return "EACCES";
    return thrown instanceof Error && "code" in thrown
      ? String(thrown.code)
      : (String(thrown).split("\n", 1)[0] ?? "");
  }
}

async function failure(step: () => Promise<unknown>): Promise<string> {
  const error = await step().then(() => undefined, asWarehouseError);
  return `${error?.code} ${error?.message}`.replaceAll(out, "OUT");
}

const ACTIONS: Record<string, () => Promise<unknown>> = {
  async publish() {
    const { run } = await publish(out);
    const directory = join(out, "runs", run);
    const database = join(directory, "warehouse.duckdb");
    return {
      modes: {
        runs: await mode(join(out, "runs")),
        staging: await mode(join(out, ".staging")),
        run: await mode(directory),
        tables: await mode(join(directory, "parquet/content_tags")),
        database: await mode(database),
        manifest: await mode(join(directory, "manifest.json")),
        parquet: await mode(join(directory, "parquet/content_tags", `content_tags-000001-0000.parquet`)),
      },
      overwrite: await outcome(() => writeFile(database, "x")),
      addFile: await outcome(() => writeFile(join(directory, "x"), "x")),
      removeFile: await outcome(() => rm(database)),
      moveRun: await outcome(() => rename(directory, join(out, "elsewhere"))),
      openForWriting: await outcome(() => DuckDBInstance.create(database)),
      openForReading: await outcome(async () => {
        const options = { temporaryDirectory: "", allowedDirectories: [], memoryLimitMb: 64, threads: 1 };
        await (await openForReading({ file: database, ...options })).close();
      }),
      prune: await outcome(async () => {
        await publish(out, 1);
        await prune(await prepareOutput(out), 1);
      }),
    };
  },
  async "publish with a closed folder"() {
    await publish(out, 1);
    const folder = await prepareOutput(out);
    const staging = await buildResult(folder, await nextRun(folder, NIGHT), 1);
    await chmod(out, 0o555);
    const failed = await failure(() => publishRun(folder, staging, statement(staging, 1), systemClock));
    await chmod(out, 0o755);
    return { failed, finished: await finishPublication(folder), current: await currentRun(folder) };
  },
  async "list with closed staging"() {
    await publish(out);
    await chmod(join(out, ".staging"), 0);
    const text = await capture(runsCommand, ["list", "--warehouse", out]);
    await chmod(join(out, ".staging"), 0o700);
    return text;
  },
  async "read what is closed"() {
    const directory = join(out, "runs", (await publish(out)).run);
    const file = join(directory, "parquet/content_tags/content_tags-000001-0000.parquet");
    await chmod(file, 0);
    await chmod(join(directory, "warehouse.duckdb"), 0);
    const limits = { temporaryDirectory: "", memoryLimitMb: 64, threads: 1 };
    await using database = await openForScanning({ allowedDirectories: [directory], ...limits });
    const scanned = await failure(() => all(database.connection, `FROM ${readParquet([file])}`));
    const asked = await failure(() => capture(sqlCommand, ["SELECT 1", "--warehouse", out]));
    await chmod(join(out, "runs"), 0o311);
    const listed = await failure(() => capture(runsCommand, ["list", "--warehouse", out]));
    await chmod(join(out, "runs"), 0o755);
    return { scanned, asked, listed };
  },
  async "prepare with closed runs"() {
    await mkdir(join(out, "runs"));
    await chmod(join(out, "runs"), 0o555);
    return { result: await outcome(() => prepareOutput(out)), left: await readdir(out) };
  },
  async "prepare after another user"() {
    return await failure(() => prepareOutput(out));
  },
  async "prune runs of another user"() {
    return await failure(() => capture(runsCommand, ["prune", "--keep", "1", "--warehouse", out]));
  },
  async verify() {
    const { text, error } = await outcomeOf(verifyCommand, ["--warehouse", out]);
    return { text, code: error?.code, message: error?.message };
  },
  async prepare() {
    await chmod(out, 0o555);
    const result = await outcome(() => prepareOutput(join(out, process.argv[4] ?? "")));
    return { result, left: await readdir(out) };
  },
};

if (process.getuid?.() === 0) {
  await chown(out, NOBODY, NOBODY);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
process.stdout.write(JSON.stringify(await ACTIONS[action]?.()));
