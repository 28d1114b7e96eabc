import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type LakeOptions, lake, openStore } from "../../../src/targets/lake/lake.ts";
import { NEVER } from "../../never.ts";

suite("the options of a store", () => {
  const WRONG: Readonly<Record<string, readonly LakeOptions[]>> = {
    url: [
      { url: "" },
      { url: "https://bucket.s3.amazonaws.com/lake" },
      { url: "s3://key:hunter2@bucket/lake" },
      { url: "s3://hunter2@bucket/lake" },
      { url: "s3://bucket/lake?token=hunter2" },
      { url: "s3://bucket/lake#hunter2" },
      { url: "file:///lake?hunter2" },
      { url: "s3://Bucket/lake" },
      { url: "s3://bucket/a//b" },
      { url: "s3://bucket/a/../b" },
      { url: "s3://bucket/.." },
      { url: "s3://bucket/a b" },
      { url: "file://host/lake" },
      { url: "file:///a%2Fb" },
    ],
    region: [{ url: "file:///lake", region: "eu-west-1" }],
    endpoint: [
      { url: "s3://bucket", endpoint: "minio:9000" },
      { url: "s3://bucket", endpoint: "https://key:hunter2@minio:9000" },
      { url: "s3://bucket", endpoint: "https://minio:9000/?hunter2" },
    ],
  };

  for (const [name, all] of Object.entries(WRONG))
    test(`have a fault that shows no credentials: ${name}`, () => {
      for (const options of all)
        assert.throws(() => lake(options), {
          code: "config.invalid",
          message: new RegExp(`^lake: ${name}: (?!.*hunter2)`),
        });
    });

  test("name a bucket with or without a prefix, or a folder", async () => {
    const buckets = { "s3://my.bucket-1": ["", "/"], "s3://bucket/a/.b=c": ["", "/"] };
    const endpoint = "http://127.0.0.1:9000";
    for (const [address, endings] of Object.entries(buckets))
      for (const ending of endings) {
        await using store = await openStore({ url: address + ending, endpoint, pathStyle: false }, NEVER);
        assert.equal(store.address, `${address}/`);
      }
    await using folder = await openStore({ url: "file:///srv/a%20lake" }, NEVER);
    assert.equal(folder.address, "file:///srv/a%20lake");
  });
});
