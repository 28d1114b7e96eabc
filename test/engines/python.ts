/** Python with packages of a test's own, in a virtual environment that is kept between runs of the tests. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";

/** Whatever reads Parquet files or a lake in a process of its own: one environment for all tests that need one of them. */
export const READERS = [
  "chdb==4.4.0",
  "datafusion==55.0.0",
  "deltalake==1.6.6",
  "duckdb==1.5.5",
  "duckdb-extension-delta==1.5.5",
  "duckdb-extension-httpfs==1.5.5",
  "fastparquet==2026.9.0",
  "pandas==3.1.1",
  "polars==2.1.0",
  "pyarrow==26.0.1",
  "pytz==2026.2",
];
export const DBT = [
  ["dbt-core==1.10.22", "dbt-duckdb==1.10.1", "duckdb==1.5.6"],
  ["dbt-core==1.11.16", "dbt-duckdb==1.11.1", "duckdb==1.5.6"],
] as const;
export const OBSERVERS = [
  "openlineage-python==1.54.0",
  "opentelemetry-proto==1.45.2",
  "prometheus-client==0.26.0",
];
export const IBIS = ["duckdb==1.5.6", "ibis-framework[duckdb]==12.0.0", "pandas==3.1.1", "pytz==2026.2"];
/** What Spark does for large tables takes most of the time with small ones. */
const SPARK_FOR_SMALL = {
  "spark.ui.enabled": "false",
  "spark.driver.host": "127.0.0.1",
  "spark.sql.shuffle.partitions": "2",
  "spark.sql.codegen.wholeStage": "false",
  "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
};
export const SPARK = ["pyspark==4.1.4", "duckdb==1.5.5", "pyarrow==26.0.1", "pytz==2026.2"];

/** Settings of Spark as a variable of PySpark's. */
export const sparkArguments = () => {
  const settings = Object.entries(SPARK_FOR_SMALL).map(([name, value]) => `--conf "${name}=${value}"`);
  return { PYSPARK_SUBMIT_ARGS: `--master local[2] ${settings.join(" ")} pyspark-shell` };
};

/** Python with DuckDB in a version. */
export const duckdbOf = (version: string) => [`duckdb==${version}`, "pytz==2026.2"];

const run = promisify(execFile);
const PINNED = /^[A-Za-z0-9._-]+(?:\[[a-z0-9,-]+\])?==[A-Za-z0-9.!+]+$/;

/**
 * Path of a Python that has these packages, such as `["duckdb==1.5.5"]`; each is pinned. Installed once, into
 * `node_modules/.cache`. A Python that is not there is a failure: nothing is left out.
 */
export async function pythonWith(packages: readonly string[]): Promise<string> {
  for (const each of packages) assert.match(each, PINNED, "a package with its exact version");
  const name = createHash("sha256").update(packages.toSorted().join("\n")).digest("hex").slice(0, 16);
  const folder = packagePath(`node_modules/.cache/python-${name}`);
  // The last step: a folder that is there without it was left by an interrupted installation.
  const installed = join(folder, "installed");
  if (!existsSync(installed)) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await install(folder, packages);
    await writeFile(installed, packages.join("\n"));
  }
  return pythonIn(folder);
}

function pythonIn(folder: string): string {
  return join(folder, "bin", "python");
}

async function install(folder: string, packages: readonly string[]): Promise<void> {
  await makeEnvironment(folder, ["--without-pip"]);
  const flags = ["--quiet", "--disable-pip-version-check", "--no-input"];
  const installer = pythonIn(await installerFolder());
  await run(installer, ["-m", "pip", "--python", pythonIn(folder), "install", ...flags, ...packages]);
}

/** The environment whose pip installs into all others: to unpack pip takes longer than most packages. */
export async function installerFolder(): Promise<string> {
  const folder = packagePath("node_modules/.cache/python-pip");
  const installed = join(folder, "installed");
  if (!existsSync(installed)) {
    await makeEnvironment(folder, ["--clear"]);
    await writeFile(installed, "pip");
  }
  return folder;
}

async function makeEnvironment(folder: string, flags: readonly string[]): Promise<void> {
  await run("python3", ["-m", "venv", ...flags, folder]).catch((thrown: Error) =>
    assert.fail(
      `Python cannot make a virtual environment: install python3 and python3-venv. ${thrown.message}`,
    ),
  );
}
