/** Stores in a bucket, on a real server and through a proxy that has faults. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite } from "node:test";
import { removeTree } from "../../src/common/tree.ts";
import { openStore } from "../../src/targets/store/open-store.ts";
import { either } from "../long.ts";
import { storeLaws } from "../targets/store/laws.ts";
import { type S3Server, startS3 } from "./s3-server.ts";

let server: S3Server;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "s3-store-"));
  server = await startS3();
  Object.assign(process.env, server.env);
});
after(async () => {
  await server?.[Symbol.asyncDispose]();
  await removeTree(folder);
});

suite("a store in a bucket", () => {
  storeLaws({
    open: async (name) =>
      await openStore({ url: `s3://${server.bucket}/${name}`, endpoint: server.endpoint }),
    schedules: either(30, 300),
  });
});
