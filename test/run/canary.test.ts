import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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
  const accounts = [
    "parquet/run/run-000001-0000.parquet",
    "parquet/run_checks/run_checks-000001-0000.parquet",
    "raw/requests-000001-0-00000.parquet",
    "raw/rejects-000001-0-00000.parquet",
  ];
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  for (const path of accounts) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    // Long enough that no statistics repeat it, among so much else that it is compressed itself.
    const detail = `string_agg(md5(i::VARCHAR), ' ') || ' ${CANARY} ' || string_agg(md5((-i)::VARCHAR), ' ')`;
    await connection.run(
      `COPY (SELECT ${detail} AS detail FROM range(1, 99) r(i)) TO '${file}' (COMPRESSION zstd)`,
    );
    assert.ok(!(await readFile(file, "latin1")).includes(CANARY), `the bytes of ${path} show the token`);
  }
  connection.closeSync();
  instance.closeSync();
  await found("log");
  await found("header");
  for (const path of accounts) await found(path);
  await assertNoToken(folder, ["clean"]);
});
