import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { currentRun, outputFolder } from "../../src/warehouse/layout.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";
import { few } from "../long.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

const SMALL = packagePath("test/run/small-pipeline.ts");
const full = { skip: process.platform !== "linux" && "there is no /dev/full" };

for (const [at, flags] of few([[], ["--json"]], 1).entries()) {
  for (const streams of few(at === 0 ? [["out"], ["out", "err"]] : [["out", "err"], ["out"]], 1)) {
    const what = `${["a run", ...flags].join(" ")} whose standard ${streams.join(" and ")} refuses`;
    test(`${what} ends with 0, since it is published`, full, async (t) => {
      const service = await Scripted.start(t, itemsOf(12));
      const out = join(await temporaryFolder(t), "warehouse");
      await using refusing = await open("/dev/full", "w");
      const args = [packagePath("src/cli/main.ts"), "run", SMALL, "--warehouse", out, ...flags];
      const child = spawn(process.execPath, args, {
        env: {
          PATH: process.env.PATH,
          ...COMPILE_CACHE,
          CONTENT_API_URL: service.url,
          CONTENT_API_TOKEN: CANARY,
        },
        stdio: ["ignore", refusing.fd, streams.includes("err") ? refusing.fd : "pipe"],
      });
      let stderr = "";
      child.stderr?.setEncoding("utf8").on("data", (text) => {
        stderr += text;
      });
      const [code] = await once(child, "close");
      assert.equal(code, 0, stderr);
      assert.ok(await currentRun(outputFolder(out)));
      if (streams.includes("err")) return;
      assert.match(stderr, /The run is published, but its summary could not be written: .*ENOSPC/);
    });
  }
}
