import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { assertNoToken, CANARY } from "./canary.ts";

test("S1: the token is found in whatever file a test leaves, also in the credentials' form and within compressed accounts", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "canary-"));
  t.after(() => rm(folder, { recursive: true }));
  const found = (path: string) => assert.rejects(assertNoToken(folder, [path]), /the token stands in/);
  await writeFile(join(folder, "log"), `before ${CANARY} after`);
  await writeFile(join(folder, "header"), `Basic ${Buffer.from(`${CANARY}:x`).toString("base64")}`);
  await writeFile(join(folder, "clean"), "CANARY and others");
  await mkdir(join(folder, "parquet", "run_checks"), { recursive: true });
  const account = join("parquet", "run_checks", "run_checks-000001-0000.parquet");
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  await connection.run(
    `COPY (SELECT repeat('${CANARY} ', 20 + i) AS detail FROM range(50) r(i)) TO '${join(folder, account)}' (COMPRESSION zstd)`,
  );
  connection.closeSync();
  instance.closeSync();
  await found("log");
  await found("header");
  await found(account);
  await assertNoToken(folder, ["clean"]);
});
