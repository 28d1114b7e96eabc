/** The Python recipes of docs/operations.md, run with each exit code; a stub stands for the scheduler's own package. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { EXIT_CODES } from "../../src/cli/help.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { temporaryFolder } from "../folders.ts";

const STUBS = `
import contextlib, subprocess, sys, types

class AirflowException(Exception): pass
class AirflowFailException(AirflowException): pass
class Failure(Exception):
    def __init__(self, description, allow_retries):
        self.then = "retry" if allow_retries else "stop"

def decorator(**settings):
    assert settings.get("retries", 3) == 3
    return lambda function: function

def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)

module("pendulum", datetime=lambda *parts, **zone: None)
module("airflow")
module("airflow.exceptions", AirflowException=AirflowException, AirflowFailException=AirflowFailException)
module("airflow.sdk", DAG=lambda *name, **settings: contextlib.nullcontext(), task=decorator)
module("dagster", asset=decorator, Failure=Failure, MaterializeResult=lambda metadata: metadata,
    RetryPolicy=dict, Backoff=types.SimpleNamespace(EXPONENTIAL=1), ScheduleDefinition=lambda *a, **b: None,
    Definitions=lambda **all: None)

CODE = 0
def run(command, **settings):
    assert command[:3] == ["content-warehouse", "run", "nightly"], command
    assert not settings.get("check")
    return subprocess.CompletedProcess(command, CODE, '{"run": "1", "verdict": "unsettled", "directory": "/w"}')
subprocess.run = run

recipe = {}
exec(open(sys.argv[1]).read(), recipe)
for CODE in map(int, sys.argv[2:]):
    try:
        recipe["export"]("one.json") if "export" in recipe else recipe["content_warehouse"]()
        then = "done"
    except Failure as failure:
        then = failure.then
    except AirflowFailException:
        then = "stop"
    except AirflowException:
        then = "retry"
    print(CODE, then)
`;

for (const scheduler of ["Airflow", "Dagster"]) {
  test(`${scheduler} takes what is published as done, and retries only what may pass`, async (t) => {
    const page = await readFile(packagePath("docs/operations.md"), "utf8");
    const pattern = new RegExp(`\\*\\*${scheduler}\\*\\*.*\\n\\n\`\`\`python\\n([\\s\\S]*?)\`\`\``);
    const [, recipe = assert.fail(scheduler)] = pattern.exec(page) ?? [];
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, "stubs.py"), STUBS);
    await writeFile(join(folder, "recipe.py"), recipe);
    // Python gives a killed process a negative code.
    const codes = [...EXIT_CODES.map(([code, then]) => [code, then]), [-9, "retry"]];
    const args = [
      join(folder, "stubs.py"),
      join(folder, "recipe.py"),
      ...codes.map(([code]) => String(code)),
    ];
    const { stdout, stderr } = spawnSync("python3", args, { encoding: "utf8" });
    assert.equal(stdout, codes.map(([code, then]) => `${code} ${then}\n`).join(""), stderr);
  });
}
