/**
 * The log of a table after a year of nights with 300 instances, read by us and by others: as we keep it, with a checkpoint
 * each 50 versions and the last 30 nights alone, and as it would be without checkpoints.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { packagePath } from "../../src/common/package-root.ts";
import { openForScanning } from "../../src/storage/duckdb.ts";
import { writeParquet } from "../../src/storage/parquet-sql.ts";
import { commitText, encodePath, metaDataLine, parseActions } from "../../src/targets/lake/delta/actions.ts";
import { VERSIONS_PER_CHECKPOINT, writeCheckpoint } from "../../src/targets/lake/delta/checkpoint.ts";
import { commitKey } from "../../src/targets/lake/delta/log-files.ts";
import { readTable } from "../../src/targets/lake/delta/read.ts";
import { INSTANCE, newMetaData, PROTOCOL } from "../../src/targets/lake/delta/schema.ts";
import { apply, emptyReplay, type Replay } from "../../src/targets/lake/delta/state.ts";
import { filePath } from "../../src/targets/lake/keys.ts";
import { openFileStore } from "../../src/targets/store/file-store.ts";
import { pythonWith, READERS } from "../engines/python.ts";
import { BENCHED } from "./lake-commits.ts";

const INSTANCES = 300;
const NIGHTS = 365;
const KEPT_NIGHTS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** What is read in seconds is read several times. */
const ROUNDS = { with: 3, without: 1 };
const { signal } = new AbortController();

export async function benchLog(folder: string, nights = NIGHTS): Promise<object> {
  const forms = { with: join(folder, "with"), without: join(folder, "without") };
  const versions = await writeLogs(forms, nights);
  const python = await pythonWith(READERS);
  const took: Record<string, object> = {};
  for (const form of ["with", "without"] as const) {
    const place = forms[form];
    const rounds = Array.from({ length: ROUNDS[form] });
    took[form] = {
      ours: await median(rounds, () => ours(place)),
      ...Object.fromEntries(
        await inTurns(["deltalake", "polars", "clickhouse", "duckdb"], async (engine) => [
          engine,
          await median(rounds, () => theirs(python, engine, join(place, BENCHED.name))),
        ]),
      ),
    };
  }
  return { instances: INSTANCES, nights, versions, seconds: took };
}

async function inTurns<Each, Result>(
  things: readonly Each[],
  work: (each: Each) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const each of things) results.push(await work(each));
  return results;
}

/** Of seconds. */
async function median(rounds: readonly unknown[], measure: () => Promise<number>): Promise<number> {
  const seconds = (await inTurns(rounds, measure)).toSorted((a, b) => a - b);
  return Number((seconds[Math.floor(seconds.length / 2)] ?? Number.NaN).toFixed(2));
}

async function ours(folder: string): Promise<number> {
  await using store = openFileStore(folder, signal);
  const from = performance.now();
  const state = await readTable(store, BENCHED.name);
  if (state?.files.size !== INSTANCES) throw new Error(`${state?.files.size} files`);
  return (performance.now() - from) / 1000;
}

/** Without the start of Python. */
async function theirs(python: string, engine: string, table: string): Promise<number> {
  const child = spawn(python, [packagePath("test/bench/lake_log.py"), engine, table], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const [code] = await once(child, "close");
  const { rows, seconds }: { rows: number; seconds: number } = JSON.parse(code === 0 ? output : "{}");
  if (rows !== INSTANCES) throw new Error(`${engine} ended with exit code ${code} and has ${rows} rows`);
  return seconds;
}

/** Gives the number of versions. Each file that the last version names is there, with one row. */
async function writeLogs(
  forms: Readonly<Record<"with" | "without", string>>,
  nights: number,
): Promise<number> {
  const nowMs = Date.now();
  const body = await oneRow(forms.without);
  await using kept = openFileStore(forms.with, signal);
  const replay = emptyReplay(BENCHED.name, null);
  const files = new Map<number, string>();
  for (const form of Object.values(forms))
    await mkdir(dirname(join(form, commitKey(BENCHED.name, 0))), { recursive: true });
  for (let version = 0; version < nights * INSTANCES; version++) {
    const [night, instance] = [Math.floor(version / INSTANCES), version % INSTANCES];
    const atMs = nowMs - (nights - night) * DAY_MS;
    const path = filePath(named(instance), BENCHED.name, night + 1, digest(version));
    const text = commitOf({
      version,
      night,
      instance,
      path,
      atMs,
      bytes: body.length,
      before: files.get(instance),
    });
    files.set(instance, path);
    apply(replay, version, parseActions(text));
    await writeFile(join(forms.without, commitKey(BENCHED.name, version)), text);
    if (night < nights - KEPT_NIGHTS) continue;
    await writeFile(join(forms.with, commitKey(BENCHED.name, version)), text);
    if (version % VERSIONS_PER_CHECKPOINT === 0) {
      await writeCheckpoint(kept, stateOf(replay), { nowMs: atMs, retentionMs: KEPT_NIGHTS * DAY_MS });
    }
  }
  for (const place of Object.values(forms)) {
    for (const path of files.values()) {
      const file = join(place, BENCHED.name, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, body);
    }
  }
  return nights * INSTANCES;
}

const named = (instance: number): string => `instance-${instance}`;
const digest = (version: number): string => version.toString(16).padStart(64, "0");

interface Night {
  readonly version: number;
  readonly night: number;
  readonly instance: number;
  readonly path: string;
  readonly atMs: number;
  readonly bytes: number;
  /** File of the night before. */
  readonly before: string | undefined;
}

/** As a delivery commits it. */
function commitOf({ version, night, instance, path, atMs, bytes, before }: Night): string {
  const partitionValues = { [INSTANCE]: named(instance) };
  const dataChange = true;
  const commitInfo = {
    timestamp: atMs,
    operation: "WRITE",
    operationParameters: { mode: "Overwrite", partitionBy: JSON.stringify([INSTANCE]) },
    isBlindAppend: false,
    engineInfo: "content-warehouse/0.1.0",
    txnId: `attempt ${version}`,
  };
  const stats = JSON.stringify({
    numRecords: 1,
    minValues: { id: "a" },
    maxValues: { id: "a" },
    nullCount: { id: 0 },
  });
  return commitText([
    { commitInfo },
    ...(version === 0
      ? [
          { protocol: PROTOCOL },
          metaDataLine(newMetaData(BENCHED, "benched", atMs, { retentionDays: 30, instance: "benched" })),
        ]
      : []),
    { txn: { appId: named(instance), version: night + 1, lastUpdated: atMs } },
    ...(before === undefined
      ? []
      : [
          {
            remove: {
              path: encodePath(before),
              deletionTimestamp: atMs,
              dataChange,
              partitionValues,
              size: bytes,
            },
          },
        ]),
    {
      add: {
        path: encodePath(path),
        partitionValues,
        size: bytes,
        modificationTime: atMs,
        dataChange,
        stats,
      },
    },
  ]);
}

function stateOf({ protocol, metaData, ...replay }: Replay) {
  if (protocol === null || metaData === null) throw new Error("the first version has neither");
  return { ...replay, protocol, metaData };
}

async function oneRow(folder: string): Promise<Buffer> {
  await mkdir(folder, { recursive: true });
  await using database = await openForScanning({
    temporaryDirectory: folder,
    allowedDirectories: [folder],
    memoryLimitMb: 64,
    threads: 1,
  });
  const file = join(folder, "row.parquet");
  await writeParquet(database.connection, {
    table: BENCHED,
    query: { text: "SELECT 'a' AS id", params: [] },
    file,
  });
  return await readFile(file);
}
