/** Engines that read a lake, each in a Python of its own; `lake_engine.py` says what they are asked. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";
import { pythonWith, READERS, SPARK } from "./python.ts";
import type { S3Server } from "./s3-server.ts";

export const ENGINES = ["duckdb", "clickhouse", "delta-rs", "polars", "spark"] as const;
export type EngineName = (typeof ENGINES)[number];

/** As few of them as read a bucket: the whole of Amazon's library has half a gigabyte. */
const JARS = [
  "io.delta:delta-spark_4.1_2.13:4.4.0",
  "org.apache.hadoop:hadoop-aws:3.4.2",
  ...["s3", "s3-transfer-manager", "sts"].map((name) => `software.amazon.awssdk:${name}:2.29.52`),
];
const SPARK_HAS = [
  "software.amazon.awssdk:bundle",
  ...["hadoop-common", "hadoop-client-api", "hadoop-client-runtime"].map(
    (name) => `org.apache.hadoop:${name}`,
  ),
];

/** A Python that has the packages of the page on the lake. */
export const lakePython = (): Promise<string> => pythonWith(READERS);

/** Rows and digest. */
export type InstanceRows = readonly [rows: number, digest: string];
export interface TableRows {
  readonly types: Readonly<Record<string, string>>;
  readonly instances: Readonly<Record<string, InstanceRows>>;
}
export type Tables = Readonly<Record<string, TableRows>>;

/** A type, and a value of it as text: how many rows have it, how many have none, and how many have it or more. */
export type Probe = readonly [type: string, value: string, counts: readonly number[]];
/** By table and column. */
export type Probes = Readonly<Record<string, Readonly<Record<string, Probe>>>>;
/** The counts of each, as a reader finds them. */
export type Found = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

export type Rows = readonly (readonly (string | null)[])[];

export interface Engine extends AsyncDisposable {
  /** Of a local DuckDB file, as those of an instance. */
  database(file: string, instance: string, tables: readonly string[]): Promise<Tables>;
  /** Of local DuckDB files, by instance: a value in the middle of each column of these tables. */
  probes(databases: Readonly<Record<string, string>>, tables: readonly string[]): Promise<Probes>;
  /** A lake in a folder, or `s3://bucket/prefix`. */
  at(lake: string): LakeReader;
}

export interface LakeReader {
  /** `tables`: the version of each; null: the newest. */
  tables(tables: Readonly<Record<string, number | null>>): Promise<Tables>;
  /** Filters on each column of the probes. `by`: which of the engine's readers. */
  filter(probes: Probes, by?: string): Promise<Found>;
  /** Rows as texts; the tables can be read by their names. */
  query(sql: string, tables: readonly string[]): Promise<Rows>;
  /** Of Spark: statements on each table, in order. They call it LAKE_TABLE. */
  write(statements: Readonly<Record<string, readonly string[]>>): Promise<void>;
}

/** Installs what an engine needs, once; it is kept in `node_modules/.cache`. */
export async function installEngine(name: EngineName): Promise<void> {
  await (name === "spark" ? sparkJars() : pythonWith(READERS));
}

export async function startEngine(name: EngineName, s3: S3Server): Promise<Engine> {
  const isSpark = name === "spark";
  const python = await pythonWith(isSpark ? SPARK : READERS);
  const folder = await mkdtemp(join(tmpdir(), "lake-engine-"));
  const child = spawn(python, [packagePath("test/engines/lake_engine.py"), name], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      ...s3.env,
      AWS_ENDPOINT_URL: s3.endpoint,
      ...(isSpark ? { SPARK_JARS: await sparkJars() } : {}),
    },
    cwd: folder,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (text) => {
    log = `${log}${text}`.slice(-20_000);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exit = once(child, "exit");
  const ask = async <Answer>(request: object): Promise<Answer> => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    if (done === true) assert.fail(`${name} ended:\n${log}`);
    const { answer, error } = JSON.parse(value);
    if (error !== undefined) assert.fail(`${name}: ${error}\n${log}`);
    return answer;
  };
  return {
    database: (file, instance, tables) => ask({ do: "database", file, instance, tables }),
    probes: (databases, tables) => ask({ do: "probes", databases, tables }),
    at: (lake) => ({
      filter: (probes, by = "") => ask({ do: "filter", lake, probes, by }),
      tables: (tables) => ask({ do: "tables", lake, tables }),
      query: (sql, tables) => ask({ do: "query", lake, sql, tables }),
      write: (statements) => ask({ do: "write", lake, statements }),
    }),
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await exit;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Folder with the libraries that Spark reads a lake with, fetched once from Maven's repository. */
async function sparkJars(): Promise<string> {
  const cache = packagePath("node_modules/.cache/spark-jars");
  const installed = join(cache, "installed");
  if (!existsSync(installed)) {
    await rm(cache, { recursive: true, force: true });
    await mkdir(cache, { recursive: true });
    const settings = join(cache, "ivysettings.xml");
    const program = join(cache, "nothing.py");
    await writeFile(settings, IVY_SETTINGS);
    await writeFile(program, "");
    const args = [
      ...["--packages", JARS.join(","), "--exclude-packages", SPARK_HAS.join(",")],
      ...["--conf", `spark.jars.ivy=${cache}`, "--conf", `spark.jars.ivySettings=${settings}`],
      program,
    ];
    const PATH = `${dirname(await pythonWith(SPARK))}:${process.env.PATH}`;
    await promisify(execFile)("spark-submit", args, { env: { ...process.env, PATH } });
    await writeFile(installed, JARS.join("\n"));
  }
  return join(cache, "jars");
}

/** Maven's central repository alone: Spark's own settings ask another one besides. */
const IVY_SETTINGS = `<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
`;
