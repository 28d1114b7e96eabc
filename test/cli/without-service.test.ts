import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { rejectsCommand } from "../../src/cli/commands/rejects.ts";
import { verifyMappingsCommand } from "../../src/cli/commands/verify-mappings.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { failsWith } from "../run/running.ts";
import { outcome } from "./capture.ts";

const COMMANDS = { rejects: rejectsCommand, "verify-mappings": verifyMappingsCommand } as const;

test("a command that lacks a service or a token names a way out that works for itself", async () => {
  const out = await sampleWarehouse();
  for (const asked of ["rejects retry", "verify-mappings --items 3"]) {
    for (const more of [[], ["--url", "https://content.example.com"]]) {
      const { error } = await ask([...asked.split(" "), ...more], out);
      assert.equal(error?.code, "config.missing_service");
      const message = error?.message ?? "";
      assert.match(
        message,
        more.length === 0
          ? /: give --url, set CONTENT_API_URL and CONTENT_API_TOKEN, /
          : /: set CONTENT_API_TOKEN, /,
      );
      const [, advised = ""] =
        /; for a run of the sample, "content-warehouse (.*)" needs neither\.$/.exec(message) ?? [];
      assert.ok(advised.startsWith(asked), message);
      assert.equal((await ask(advised.split(" "), out)).error, undefined, advised);
    }
  }
});

test("a program without a service is told of its own option for the sample", async () => {
  const { message } = await failsWith(
    "config.missing_service",
    runPipeline({ pipeline: "nightly", cwd: tmpdir() }),
  );
  assert.match(message, /; `sample: true` needs neither\.$/);
});

function ask([command = "", ...args]: readonly string[], out: string): ReturnType<typeof outcome> {
  const make = Object.entries(COMMANDS).find(([name]) => name === command)?.[1];
  assert.ok(make !== undefined, command);
  return outcome(make, [...args, "--warehouse", out], {
    env: {},
    cwd: tmpdir(),
    err: new PassThrough().resume(),
  });
}
