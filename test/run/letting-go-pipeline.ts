import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import small from "./small-pipeline.ts";

// A thread that lets go says so in this file.
const { LET_GO_FILE: file } = process.env;
if (!isMainThread && file !== undefined) {
  globalThis.gc = Object.assign(
    async (options?: unknown) => appendFileSync(file, `${JSON.stringify(options)}\n`),
    { default: undefined },
  );
}

export default small;
