/** The program as a process: its streams, threads and working directory. */
import assert from "node:assert/strict";
import { execFile, type StdioOptions, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";
import { currentRun, outputFolder } from "../../src/warehouse/layout.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";
import { few, long } from "../long.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { program, startRun } from "./running.ts";

const PROGRAM = `"${process.execPath}" "${packagePath("src/cli/main.ts")}"`;
const ON_LINUX = { skip: process.platform !== "linux" && "there is no /dev/full and no /proc" };

/** Runs a command of bash: what it prints, and what it writes to standard error. */
async function bash(command: string): Promise<readonly [stdout: string, stderr: string]> {
  const env = { PATH: process.env.PATH, ...COMPILE_CACHE };
  const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-c", command], { env });
  return [stdout, stderr];
}

suite("output that is refused", () => {
  test("help and version end well if nobody reads them", async () => {
    for (const command of few(["--version", "--help"], 1)) {
      const [code, stderr] = await bash(`${PROGRAM} ${command} | true; echo "\${PIPESTATUS[0]}"`);
      assert.deepEqual([code, stderr], ["0\n", ""], command);
    }
  });

  test("help and version end with 30 and one sentence if the disk is full", ON_LINUX, async () => {
    for (const command of few(["help sql", "--help"], 1)) {
      const [code, stderr] = await bash(`${PROGRAM} ${command} > /dev/full; echo "$?"`);
      assert.deepEqual([code, stderr], ["30\n", "The disk is full (ENOSPC); free space.\n"], command);
    }
  });

  test("a closed or full standard error changes no exit code", ON_LINUX, async () => {
    for (const to of few(["2> /dev/full", "2>&-"], 1)) {
      const [code, stderr] = await bash(`${PROGRAM} nonsense ${to}; echo "$?"`);
      assert.deepEqual([code, stderr], ["2\n", ""], to);
    }
  });

  const CASES = [
    { flags: [], streams: ["out"] },
    { flags: [], streams: ["out", "err"] },
    { flags: ["--json"], streams: ["out", "err"] },
    { flags: ["--json"], streams: ["out"] },
  ] as const;
  for (const { flags, streams } of few(CASES, 1)) {
    test(
      `a run ${flags} whose standard ${streams.join(" and ")} refuses ends with 0: it is published`,
      ON_LINUX,
      async (t) => {
        const service = await Scripted.start(t, itemsOf(12));
        const out = join(await temporaryFolder(t), "warehouse");
        await using full = await open("/dev/full", "w");
        const isErrFull = streams.some((stream) => stream === "err");
        const stdio: StdioOptions = ["ignore", full.fd, isErrFull ? full.fd : "pipe"];
        const { code, stderr } = await startRun(service, out, { flags: [...flags], stdio }).ended;
        assert.equal(code, 0, stderr);
        assert.ok(await currentRun(outputFolder(out)));
        if (!isErrFull)
          assert.match(stderr, /The run is published, but its summary could not be written: .*ENOSPC/);
      },
    );
  }
});

/** Prints the number of libuv's threads at the end of the process. */
const COUNT_THREADS = `
  import { readdirSync, readFileSync } from "node:fs";
  process.on("exit", () => {
    const names = readdirSync("/proc/self/task").map((task) => readFileSync("/proc/self/task/" + task + "/comm", "utf8"));
    console.log("threads of libuv: " + names.filter((name) => name.trim() === "libuv-worker").length);
  });
`;

for (const [threads, env] of few<readonly [number, Readonly<Record<string, string>>]>(
  [
    [3, {}],
    [3, { UV_THREADPOOL_SIZE: "" }],
    [2, { UV_THREADPOOL_SIZE: "2" }],
  ],
  1,
)) {
  test(`a run has ${threads} threads of libuv with ${JSON.stringify(env)}`, ON_LINUX, async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    const { code, stdout, stderr } = await program(
      ["run", packagePath("test/run/small-pipeline.ts"), "--warehouse", await temporaryFolder(t)],
      {
        env: { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY, ...env },
        node: ["--import", `data:text/javascript,${encodeURIComponent(COUNT_THREADS)}`],
      },
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`^threads of libuv: ${threads}$`, "m"));
  });
}

/** Runs the program in a working directory that is removed before it starts. */
async function withoutFolder(t: TestContext, args: readonly string[]) {
  const cwd = join(await temporaryFolder(t), "removed");
  mkdirSync(cwd);
  const command = [process.execPath, packagePath("src/cli/main.ts"), ...args];
  return spawnSync("sh", ["-c", 'rmdir "$PWD" && exec "$@"', "sh", ...command], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...COMPILE_CACHE },
  });
}

test("a working directory that was removed does not matter to help and version", async (t) => {
  for (const args of few([["--help"], ["--version"], ["run", "--help"]], 1)) {
    const { status, stderr, stdout } = await withoutFolder(t, args);
    assert.deepEqual([status, stderr, stdout === ""], [0, "", false], args.join(" "));
  }
});

test("a working directory that was removed ends other commands with 2 and a sentence", async (t) => {
  const commands = ["run nightly --sample", "runs list", "schema", "verify", "sql SHOW"];
  for (const command of few(commands, 1)) {
    const { status, stderr } = await withoutFolder(t, command.split(" "));
    const sentence = "The working directory was removed; change to a folder that exists.\n";
    assert.deepEqual([status, stderr], [2, sentence], command);
  }
});

long("a missing TMPDIR ends a question with 2, and the sentence names it and the folder", async () => {
  const out = await sampleWarehouse();
  const TMPDIR = join(out, "no-such-folder");
  for (const command of few(
    ["sql FROM_content", "verify", "audit", "runs show --section rejects", "report"],
    3,
  )) {
    const args = [...command.split(" "), "--warehouse", out];
    const { code, stdout, stderr } = await program(args, { env: { TMPDIR } });
    assert.deepEqual([code, stdout], [2, ""], `${command}: ${stderr}`);
    assert.ok(stderr.includes(TMPDIR) && /ENOENT.*set TMPDIR/.test(stderr), stderr);
  }
});
