/** The program as a process: its streams, threads, and working and temporary directory. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";
import { currentRun, outputFolder } from "../../src/warehouse/layout.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";
import { few } from "../long.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { publish } from "../warehouse/published.ts";
import { program } from "./running.ts";

const PROGRAM = `"${process.execPath}" "${packagePath("src/cli/main.ts")}"`;
const ON_LINUX = { skip: process.platform !== "linux" && "there is no /dev/full and no /proc" };

const REMOVED = "The working directory was removed; change to a folder that exists.\n";
const FULL = "The disk is full (ENOSPC); free space.\n";

/** What bash is told, where the program is `program`, what it prints, and what the program says on standard error. */
const SCRIPTS: readonly (readonly [script: string, printed: string, said?: string | RegExp])[] = [
  ["set -o pipefail; program --version | true; echo $?", "0"],
  ["set -o pipefail; program --help | true; echo $?", "0"],
  ["program help sql > /dev/full; echo $?", "30", FULL],
  ["program --help > /dev/full; echo $?", "30", FULL],
  ["program nonsense 2> /dev/full; echo $?", "2"],
  ["program nonsense 2>&-; echo $?", "2"],
  ['rmdir "$PWD"; program --help > /dev/null; echo $?', "0"],
  ['rmdir "$PWD"; program run --help > /dev/null; echo $?', "0"],
  ...["schema", "run nightly --sample", "runs list", "verify", "sql SHOW"].map(
    (command) => [`rmdir "$PWD"; program ${command}; echo $?`, "2", REMOVED] as const,
  ),
  ...["verify", "sql FROM_content", "runs show --section rejects"].map(
    (command) =>
      [
        `TMPDIR=/no-such program ${command} --warehouse "$OUT"; echo $?`,
        "2",
        /\/no-such\b.*ENOENT.*set TMPDIR/,
      ] as const,
  ),
];

test(
  "streams that are closed or full, and folders that are missing, have their exit codes",
  ON_LINUX,
  async (t) => {
    const out = await temporaryFolder(t);
    await publish(out);
    const env = { PATH: process.env.PATH, ...COMPILE_CACHE, OUT: out };
    for (const [script, printed, said = ""] of few(SCRIPTS, 5)) {
      const command = script.replace("program", PROGRAM);
      const cwd = join(await temporaryFolder(t), "here");
      const shell = ["--norc", "-c", `mkdir "${cwd}" && cd "${cwd}" && { ${command}; }`];
      const { stdout, stderr } = await promisify(execFile)("bash", shell, { env });
      assert.equal(stdout, `${printed}\n`, `${script}: ${stderr}`);
      if (typeof said === "string") assert.equal(stderr, said, script);
      else assert.match(stderr, said, script);
    }
  },
);

/** Tells on standard error how many threads libuv has at the end of the process. */
const COUNT_THREADS = `
  import { readdirSync, readFileSync } from "node:fs";
  process.on("exit", () => {
    const names = readdirSync("/proc/self/task").map((task) => readFileSync("/proc/self/task/" + task + "/comm", "utf8"));
    console.error("threads of libuv: " + names.filter((name) => name.trim() === "libuv-worker").length);
  });
`;

const RUNS = [
  { flags: [], env: {}, threads: 3 },
  { flags: ["--json"], env: { UV_THREADPOOL_SIZE: "" }, threads: 3 },
  { flags: [], env: { UV_THREADPOOL_SIZE: "2" }, threads: 2 },
  { flags: ["--json"], env: {}, threads: null },
] as const;

for (const { flags, env, threads } of few(RUNS, 1)) {
  const what = threads === null ? "and standard error refuse" : `refuses, with ${threads} threads of libuv,`;
  test(`a run ${flags} whose standard output ${what} ends with 0: it is published`, ON_LINUX, async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    const out = join(await temporaryFolder(t), "warehouse");
    await using full = await open("/dev/full", "w");
    const { code, stderr } = await program(
      ["run", packagePath("test/run/small-pipeline.ts"), "--warehouse", out, ...flags],
      {
        env: { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY, ...env },
        node: ["--import", `data:text/javascript,${encodeURIComponent(COUNT_THREADS)}`],
        stdio: ["ignore", full.fd, threads === null ? full.fd : "pipe"],
      },
    );
    assert.equal(code, 0, stderr);
    assert.ok(await currentRun(outputFolder(out)));
    if (threads === null) return;
    assert.match(stderr, /The run is published, but its summary could not be written: .*ENOSPC/);
    assert.match(stderr, new RegExp(`^threads of libuv: ${threads}$`, "m"));
  });
}
