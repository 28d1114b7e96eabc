import assert from "node:assert/strict";
import type { StdioOptions } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { currentRun, outputFolder } from "../../src/warehouse/layout.ts";
import { few } from "../long.ts";
import { temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { startRun } from "./running.ts";

const full = { skip: process.platform !== "linux" && "there is no /dev/full" };

for (const [at, flags] of few([[], ["--json"]], 1).entries()) {
  for (const streams of few(at === 0 ? [["out"], ["out", "err"]] : [["out", "err"], ["out"]], 1)) {
    const what = `${["a run", ...flags].join(" ")} whose standard ${streams.join(" and ")} refuses`;
    test(`${what} ends with 0, since it is published`, full, async (t) => {
      const service = await Scripted.start(t, itemsOf(12));
      const out = join(await temporaryFolder(t), "warehouse");
      await using refusing = await open("/dev/full", "w");
      const stdio: StdioOptions = ["ignore", refusing.fd, streams.includes("err") ? refusing.fd : "pipe"];
      const { code, stderr } = await startRun(service, out, { flags, stdio }).ended;
      assert.equal(code, 0, stderr);
      assert.ok(await currentRun(outputFolder(out)));
      if (streams.includes("err")) return;
      assert.match(stderr, /The run is published, but its summary could not be written: .*ENOSPC/);
    });
  }
}
