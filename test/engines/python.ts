/** Python with packages of a test's own, in a virtual environment that is kept between runs of the tests. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";

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
  await run("python3", ["-m", "venv", folder]).catch((thrown: Error) =>
    assert.fail(
      `Python cannot make a virtual environment: install python3 and python3-venv. ${thrown.message}`,
    ),
  );
  const flags = ["--quiet", "--disable-pip-version-check", "--no-input"];
  await run(pythonIn(folder), ["-m", "pip", "install", ...flags, ...packages]);
}
