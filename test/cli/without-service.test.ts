import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { rejectsCommand } from "../../src/cli/commands/rejects.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { failsWith } from "../failing.ts";
import { outcome } from "./capture.ts";

test("a command that lacks a service or a token names a way out that works for itself", async () => {
  const out = await sampleWarehouse();
  for (const more of [[], ["--url", "https://content.example.com"]]) {
    const { error } = await ask(["retry", ...more], out);
    assert.equal(error?.code, "config.missing_service");
    const message = error?.message ?? "";
    assert.match(
      message,
      more.length === 0
        ? /: give --url, set CONTENT_API_URL and CONTENT_API_TOKEN, /
        : /: set CONTENT_API_TOKEN, /,
    );
    const [, advised = ""] =
      /; for a run of the sample, "content-warehouse rejects (retry.*)" needs neither\.$/.exec(message) ?? [];
    assert.equal((await ask(advised.split(" "), out)).error, undefined, message);
  }
});

test("a program without a service is told of its own option for the sample", async () => {
  const { message } = await failsWith(
    "config.missing_service",
    runPipeline({ pipeline: "nightly", cwd: tmpdir() }),
  );
  assert.match(message, /; `sample: true` needs neither\.$/);
});

function ask(args: readonly string[], out: string): ReturnType<typeof outcome> {
  return outcome(rejectsCommand, [...args, "--warehouse", out], {
    env: {},
    cwd: tmpdir(),
    err: new PassThrough().resume(),
  });
}
