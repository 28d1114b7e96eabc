import assert from "node:assert/strict";
import { test } from "node:test";
import { importModule } from "../../src/common/import-module.ts";
import * as library from "../../src/index.ts";
import { TABLES } from "../../src/tables/all.ts";

test("the library has one door, with these names in it", () => {
  assert.deepEqual(Object.keys(library).sort(), [
    "WarehouseError",
    "bigint",
    "boolean",
    "contentTables",
    "createService",
    "customFields",
    "customTable",
    "date",
    "defineConfig",
    "definePipeline",
    "destinations",
    "double",
    "duckdb",
    "history",
    "integer",
    "json",
    "lake",
    "listing",
    "lostValues",
    "mappedValues",
    "mappingCoverage",
    "parquet",
    "postgres",
    "runPipeline",
    "singleItems",
    "sqlTable",
    "tables",
    "test",
    "text",
    "timestamp",
  ]);
  assert.deepEqual(library.tables, TABLES);
});

test("a module that imports content-warehouse gets this very package, and only while it is imported", async () => {
  const source = 'import * as library from "content-warehouse"; export default library;';
  const url = `data:text/javascript,${encodeURIComponent(source)}`;
  const module = await importModule(url);
  assert.ok(typeof module === "object" && module !== null && "default" in module);
  assert.equal(module.default, library);
  await assert.rejects(import(`${url}//again`), { code: "ERR_UNSUPPORTED_RESOLVE_REQUEST" });
});
