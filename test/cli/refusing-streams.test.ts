/** Standard output that takes nothing: its reader went away, or its disk is full. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";

const PROGRAM = `"${process.execPath}" "${packagePath("src/cli/main.ts")}"`;
const full = { skip: process.platform !== "linux" && "there is no /dev/full" };

/** What a command of bash prints, and what it says on standard error. */
async function bash(command: string): Promise<readonly [stdout: string, stderr: string]> {
  const env = { PATH: process.env.PATH, ...COMPILE_CACHE };
  const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-c", command], { env });
  return [stdout, stderr];
}

test("help and version end well where nobody reads them", async () => {
  for (const command of ["--help", "--version"]) {
    const [code, said] = await bash(`${PROGRAM} ${command} | true; echo "\${PIPESTATUS[0]}"`);
    assert.deepEqual([code, said], ["0\n", ""], command);
  }
});

test("help and version end with 30 and one sentence where the disk is full", full, async () => {
  for (const command of ["--help", "help sql"]) {
    const [code, said] = await bash(`${PROGRAM} ${command} > /dev/full; echo "$?"`);
    const sentence = "The disk is full (ENOSPC); free space.\n";
    assert.deepEqual([code, said], ["30\n", sentence], command);
  }
});

test("standard error that is closed, or full, changes no exit code", full, async () => {
  for (const to of ["2>&-", "2> /dev/full"]) {
    const [code, said] = await bash(`${PROGRAM} nonsense ${to}; echo "$?"`);
    assert.deepEqual([code, said], ["2\n", ""], to);
  }
});
