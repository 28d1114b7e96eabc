import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { importModule } from "../../src/common/import-module.ts";
import * as library from "../../src/index.ts";
import { TABLES } from "../../src/tables/all.ts";
import { CONTENT_SET } from "../service/fixture.ts";
import { contentSetOf } from "../service/memory-set.ts";

test("the library has one door, with these names in it", () => {
  assert.deepEqual(Object.keys(library).sort(), [
    "WarehouseError",
    "bigint",
    "boolean",
    "contentTables",
    "createClient",
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

suite("the client against the service", () => {
  test("reads pages, items, destinations and custom fields, each with its type", async (t) => {
    const service = await library.createService({ data: contentSetOf(CONTENT_SET) });
    t.after(() => service.close());
    const client = library.createClient({ url: service.url, token: "t-admin" });
    t.after(() => client.close());

    const { items, pagination } = await client.listPage({ mode: "full", page: 1, perPage: 2 });
    assert.deepEqual([items.length, pagination.count], [2, CONTENT_SET.documents.length]);
    const title: string | null | undefined = items[1]?.title;
    assert.equal(title, "Ärger im Büro");

    const event = await client.item("c-event", { mode: "dynamic" });
    assert.equal(event?.timezone_name, "Europe/Vienna");
    assert.equal(await client.item("c-gone", { mode: "dynamic" }), null);

    const { destinations, unmatched } = await client.destinations([{ name: "Portal" }, { name: "Nowhere" }]);
    assert.deepEqual(
      destinations.map(({ id }) => id),
      ["d-portal"],
    );
    assert.deepEqual(unmatched, [{ name: "Nowhere", platform: "External" }]);

    const { definitions } = await client.customFields(["region"]);
    assert.equal(definitions[0]?.mappings?.[0]?.field_name, "market");
  });

  test("tells a refused token as a WarehouseError with the exit code of the command line", async (t) => {
    const service = await library.createService({ data: contentSetOf(CONTENT_SET) });
    t.after(() => service.close());
    const client = library.createClient({ url: service.url, token: "wrong" });
    t.after(() => client.close());
    await assert.rejects(client.listPage({ mode: "basic", page: 1 }), (error) => {
      assert.ok(error instanceof library.WarehouseError);
      assert.deepEqual([error.code, error.exitCode], ["source.credentials", 20]);
      return true;
    });
  });
});
