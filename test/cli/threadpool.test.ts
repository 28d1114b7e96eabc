import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { few } from "../long.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { program } from "./running.ts";

const ON_LINUX = { skip: process.platform !== "linux" && "there is no /proc" };

/** Says at the end how many threads of libuv the process has. */
const COUNTING = `
  import { readdirSync, readFileSync } from "node:fs";
  process.on("exit", () => {
    const names = readdirSync("/proc/self/task").map((task) => readFileSync("/proc/self/task/" + task + "/comm", "utf8"));
    console.log("threads of libuv: " + names.filter((name) => name.trim() === "libuv-worker").length);
  });
`;

for (const { env, threads } of few(
  [
    { env: {}, threads: 3 },
    { env: { UV_THREADPOOL_SIZE: "" }, threads: 3 },
    { env: { UV_THREADPOOL_SIZE: "2" }, threads: 2 },
  ],
  1,
)) {
  test(`a run has ${threads} threads of libuv, with ${JSON.stringify(env)}`, ON_LINUX, async (t) => {
    const out = join(await temporaryFolder(t), "warehouse");
    const counting = ["--import", `data:text/javascript,${encodeURIComponent(COUNTING)}`];
    const service = await Scripted.start(t, itemsOf(12));
    const source = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
    const args = ["run", packagePath("test/run/small-pipeline.ts"), "--warehouse", out];
    const { code, stdout, stderr } = await program(args, { env: { ...source, ...env }, node: counting });
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`^threads of libuv: ${threads}$`, "m"));
  });
}
