import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  openStore,
  parseStoreAddress,
  type StoreSettings,
  storeFaults,
} from "../../../src/targets/store/open-store.ts";
import { S3_SDK } from "../../../src/targets/store/s3-store.ts";
import { NEVER } from "../../never.ts";
import { withoutPackage } from "../../without-package.ts";

suite("the options of a store", () => {
  const WRONG: Readonly<Record<string, readonly StoreSettings[]>> = {
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
    test(`have a fault that shows no credentials: ${name}`, async () => {
      for (const options of all) {
        const [fault = "", ...others] = storeFaults(options);
        assert.deepEqual([fault.split(":")[0], others], [name, []], options.url);
        assert.doesNotMatch(fault, /hunter2/);
        await assert.rejects(openStore(options, NEVER), { code: "config.invalid", message: fault });
      }
    });

  test("name a bucket with or without a prefix, or a folder", () => {
    for (const url of ["s3://my.bucket-1", "s3://my.bucket-1/"])
      assert.deepEqual(parseStoreAddress(url), { bucket: "my.bucket-1", prefix: "" });
    for (const url of ["s3://bucket/a/.b=c", "s3://bucket/a/.b=c/"])
      assert.deepEqual(parseStoreAddress(url), { bucket: "bucket", prefix: "a/.b=c/" });
    assert.deepEqual(parseStoreAddress("file:///srv/a%20lake"), { folder: "/srv/a lake" });
    const local = { url: "s3://bucket", endpoint: "http://127.0.0.1:9000", pathStyle: false };
    assert.deepEqual(storeFaults(local), []);
  });
});

suite("the package for buckets", () => {
  test("is told to be installed where it is missing, and a folder needs none", async (t) => {
    t.after(withoutPackage("@aws-sdk/client-s3"));
    await assert.rejects(openStore({ url: "s3://bucket/lake" }, NEVER), {
      code: "config.invalid",
      message: `A target in a bucket needs a package that is not installed; install it with: npm install --global ${S3_SDK} (without --global if content-warehouse is a dependency of a project).`,
    });
    await openStore({ url: "file:///lake" }, NEVER);
  });
});
