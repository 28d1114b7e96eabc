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

const EXPECTED = "url: expected s3://bucket/prefix or file:///folder";
const WITHOUT_CREDENTIALS = `${EXPECTED}, without credentials; these come from the environment or the files of the AWS tools.`;
const PREFIX = `${EXPECTED}; a prefix has letters, digits, ".", "_", "=", "-", and slashes between.`;
const BUCKET = `${EXPECTED}; a bucket's name has lower-case letters, digits, "." and "-".`;

suite("the options of a store", () => {
  const WRONG: readonly (readonly [options: StoreSettings, fault: string])[] = [
    [{ url: "" }, `${EXPECTED}.`],
    [{ url: "https://bucket.s3.amazonaws.com/lake" }, `${EXPECTED}.`],
    [{ url: "s3://key:hunter2@bucket/lake" }, WITHOUT_CREDENTIALS],
    [{ url: "s3://hunter2@bucket/lake" }, WITHOUT_CREDENTIALS],
    [{ url: "s3://bucket/lake?token=hunter2" }, `${EXPECTED}, without "?" and "#".`],
    [{ url: "s3://bucket/lake#hunter2" }, `${EXPECTED}, without "?" and "#".`],
    [{ url: "s3://Bucket/lake" }, BUCKET],
    [{ url: "s3://bucket/a//b" }, PREFIX],
    [{ url: "s3://bucket/a/../b" }, PREFIX],
    [{ url: "s3://bucket/a b" }, PREFIX],
    [{ url: "file://host/lake" }, `${EXPECTED}; a folder's address has three slashes.`],
    [{ url: "file:///a%2Fb" }, `${EXPECTED}; the path is not encoded as a URL's.`],
    [{ url: "file:///lake", region: "eu-west-1" }, "region: a folder (file:///) has none; leave it out."],
    [
      { url: "s3://bucket", endpoint: "minio:9000" },
      "endpoint: expected an address such as https://minio.example.com:9000.",
    ],
    [
      { url: "s3://bucket", endpoint: "https://key:hunter2@minio:9000" },
      'endpoint: expected an address without credentials, "?" and "#", such as https://minio.example.com:9000.',
    ],
  ];

  for (const [options, fault] of WRONG) {
    test(`have a fault that shows no credentials: ${JSON.stringify(options)}`, async () => {
      assert.deepEqual(storeFaults(options), [fault]);
      await assert.rejects(openStore(options, NEVER), { code: "config.invalid", message: fault });
    });
  }

  test("name a bucket with or without a prefix, or a folder", () => {
    for (const url of ["s3://my.bucket-1", "s3://my.bucket-1/"]) {
      assert.deepEqual(parseStoreAddress(url), { kind: "s3", bucket: "my.bucket-1", prefix: "" });
    }
    for (const url of ["s3://bucket/a/b=c", "s3://bucket/a/b=c/"]) {
      assert.deepEqual(parseStoreAddress(url), { kind: "s3", bucket: "bucket", prefix: "a/b=c/" });
    }
    assert.deepEqual(parseStoreAddress("file:///srv/a%20lake"), { kind: "file", folder: "/srv/a lake" });
    assert.deepEqual(
      storeFaults({ url: "s3://bucket", endpoint: "http://127.0.0.1:9000", pathStyle: false }),
      [],
    );
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
