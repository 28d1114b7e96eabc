import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { EXIT_CODES } from "../src/cli/help.ts";
import { packagePath } from "../src/common/package-root.ts";
import { VERSION } from "../src/common/version.ts";
import { temporaryFolder } from "./folders.ts";

const PAGE = packagePath("docs/operations.md");

/** Exit codes of a run that was not ended by a signal, by what comes after them. */
function codesOf(then: "done" | "retry" | "stop"): number[] {
  return EXIT_CODES.flatMap(([code, each]) => (code < 128 && each === then ? [code] : []));
}

/** A row may say more than the help. */
test("the page has each exit code once, by what comes after it", async () => {
  const [, ...parts] = (await readFile(PAGE, "utf8")).split(/^\*\*(?=(?:Done|Retry|Stop)\*\*)/m);
  const rows = parts.flatMap((part) =>
    [...part.matchAll(/^\| \d+ \| .*/gm)].map(([row]) => `${/^\w+/.exec(part)?.[0].toLowerCase()} ${row}`),
  );
  assert.equal(rows.length, EXIT_CODES.length);
  for (const [code, then, short, hint] of EXIT_CODES) {
    const begin = `${then} | ${code} | ${short} | ${hint}`;
    assert.ok(
      rows.some((row) => row.startsWith(begin)),
      begin,
    );
  }
});

test("systemd and Kubernetes stop after the exit codes that need a person, and after no others", async () => {
  const page = await readFile(PAGE, "utf8");
  const codes = (pattern: RegExp) =>
    [...page.matchAll(pattern)].map(([, list = ""]) => list.split(/[^0-9]+/).map(Number));
  assert.deepEqual([0, ...codes(/SuccessExitStatus=([\d ]+)$/gm).flat()], codesOf("done"));
  assert.deepEqual(codes(/RestartPreventExitStatus=([\d ]+)$/gm), [codesOf("stop")]);
  // The job of a night, and that of many instances.
  assert.deepEqual(codes(/operator: In, values: \[([\d, ]+)\]/g), [codesOf("stop"), codesOf("stop")]);
  assert.ok(page.includes(`image: content-warehouse:${VERSION}\n`));
});

/** Exit code of a killed run, which the shell gives it. */
const SIGKILL = 137;

/** The page's shell recipes, and whether one tries again by itself. */
const SHELL: readonly (readonly [name: string, pattern: RegExp, isRepeated: boolean])[] = [
  ["cron", /^0 2 \* \* \* {2}(.*)$/m, true],
  ["Kubernetes", /args:\n +- \|\n((?: {18}.*\n)+)/, false],
  ["GitHub Actions", /- run: (.*)$/m, false],
  ["Kubernetes, many instances", /args:\n +- \|\n((?: {14}\S.*\n)+)/, false],
];

/** A folder of programs for the recipes: each run is a line in `runs` there. */
async function programs(t: TestContext, run: string): Promise<{ folder: string; env: NodeJS.ProcessEnv }> {
  const folder = await temporaryFolder(t);
  const files = { "content-warehouse": `echo run >> ${folder}/runs\n${run}`, sleep: "" };
  for (const [name, text] of Object.entries(files))
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  await writeFile(join(folder, "one.json"), "{}");
  await writeFile(join(folder, "one"), "token");
  return { folder, env: { PATH: `${folder}:${process.env.PATH}`, JOB_COMPLETION_INDEX: "0" } };
}

async function scriptOf(pattern: RegExp, folder: string): Promise<string> {
  const [, script = assert.fail(`${pattern}`)] = pattern.exec(await readFile(PAGE, "utf8")) ?? [];
  return script.replace("/usr/bin/", "").replaceAll(/\/(?:instances|tokens)\//g, `${folder}/`);
}

for (const [name, pattern, isRepeated] of SHELL) {
  test(`a run of ${name} succeeds where it is published, and keeps its exit code elsewhere`, async (t) => {
    const { folder, env } = await programs(t, 'exit "$CODE"');
    const script = await scriptOf(pattern, folder);
    const shell = name === "GitHub Actions" ? ["bash", "-e"] : ["sh"];
    for (const [code, then] of EXIT_CODES.filter(([code]) => code < 128 || code === SIGKILL)) {
      await rm(join(folder, "runs"), { force: true });
      const { status } = spawnSync("env", [...shell, "-c", script], { env: { ...env, CODE: String(code) } });
      const runs = (await readFile(join(folder, "runs"), "utf8")).split("\n").length - 1;
      assert.equal(runs, isRepeated && then === "retry" ? 3 : 1, `${code}`);
      if (isRepeated) assert.equal(status, code);
      else assert.equal(status === 0, then === "done", `${code}`);
      if (name.startsWith("Kubernetes") && then !== "done") assert.equal(status, code);
    }
  });
}

test("a pod that is to end passes that on to the run, and has its exit code", async (t) => {
  const { folder, env } = await programs(
    t,
    "trap 'exit 143' TERM; echo begun; while :; do /bin/sleep 0.1; done",
  );
  const [, pattern = assert.fail()] = SHELL[1] ?? [];
  const pod = spawn("sh", ["-c", await scriptOf(pattern, folder)], { env, detached: true });
  const { pid = assert.fail() } = pod;
  const ended = once(pod, "exit");
  // Whatever became of the pod, nothing of it stays.
  t.after(() => assert.throws(() => process.kill(-pid, "SIGKILL"), { code: "ESRCH" }));
  await once(pod.stdout, "data");
  pod.kill("SIGTERM");
  assert.deepEqual(await ended, [143, null]);
});

test("GNU parallel repeats what may pass, and the shell lines of many instances are right", async (t) => {
  const [, section = ""] = (await readFile(PAGE, "utf8")).split("\n## Many instances\n");
  const [many = ""] = section.split("\n## ");
  const scripts = [...many.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  assert.equal(scripts.length, 2);
  for (const input of scripts) {
    assert.match(input, /content-warehouse run nightly /);
    const { status, stderr } = spawnSync("sh", ["-n"], { input, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  }
  const folder = await temporaryFolder(t);
  const head = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";
  const rows = EXIT_CODES.map(
    ([code]) => `1\t:\t1700000000.1\t1.5\t0\t0\t${code}\t0\tcontent-warehouse run --config ${code}.json\n`,
  );
  rows.push("1\t:\t1700000000.1\t1.5\t0\t0\t0\t9\tcontent-warehouse run --config killed.json\n");
  await writeFile(join(folder, "nightly.log"), head + rows.join(""));
  const [awk = assert.fail()] = /^awk .*(?= \|$)/m.exec(scripts[1] ?? "") ?? [];
  const { stdout } = spawnSync("sh", ["-c", awk], { cwd: folder, encoding: "utf8" });
  const repeated = EXIT_CODES.flatMap(([code, then]) => (then === "retry" ? [`${code}.json\n`] : []));
  assert.equal(stdout, [...repeated, "killed.json\n"].join(""));
});
