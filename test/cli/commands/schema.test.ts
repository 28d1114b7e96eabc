import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { schemaCommand } from "../../../src/cli/commands/schema.ts";
import { sqlCommand } from "../../../src/cli/commands/sql.ts";
import { createViews } from "../../../src/load/views.ts";
import { DUCKDB_TYPES, tableComment } from "../../../src/storage/ddl.ts";
import { TABLES } from "../../../src/tables/all.ts";
import type { Column, Table } from "../../../src/tables/declare.ts";
import { VIEWS } from "../../../src/tables/views.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { capture } from "../capture.ts";

/** Without a run, unless a warehouse is named. */
const shown = (args: readonly string[], columns?: number) =>
  capture(schemaCommand, ["--warehouse", "/nowhere", ...args], columns);
const schema = (format: string) => shown(["--format", format]);

suite("the schema", () => {
  test("as JSON has every table with its key, and every column with its type and its API fields", async () => {
    const document = JSON.parse(await schema("json"));
    assert.deepEqual(Object.keys(document), ["tables", "views", "unplaced"]);
    assert.deepEqual(
      document.tables.map(({ name }: { name: string }) => name),
      TABLES.map(({ name }) => name),
    );
    const content = document.tables.find(({ name }: { name: string }) => name === "content");
    assert.deepEqual(Object.keys(content), ["name", "comment", "key", "references", "columns"]);
    assert.deepEqual(content.key, ["content_id"]);
    assert.deepEqual(content.references[0], {
      columns: ["content_type_id"],
      table: "content_types",
      to: ["content_type_id"],
    });
    const title = content.columns.find(({ name }: { name: string }) => name === "title");
    assert.deepEqual(Object.keys(title), ["name", "type", "nullable", "comment", "personal", "origins"]);
    assert.deepEqual(title.origins[0], { resource: "basic", path: "title" });
    for (const { resource, path, reason } of document.unplaced) {
      assert.ok(resource !== "" && path !== "" && reason.length > 10, path);
    }
  });

  test("as text has every table and view and every column", async () => {
    const text = await schema("text");
    for (const table of [...TABLES, ...VIEWS]) {
      assert.ok(text.includes(table.name), table.name);
      for (const { name } of table.columns) assert.ok(text.includes(name), `${table.name}.${name}`);
    }
    assert.equal(text, await shown([]), "unless told otherwise");
  });

  test("as text has the API fields of each column, and keeps to the width of a screen", async () => {
    const text = await shown(["content"], 80);
    assert.match(text, /^ {2}title +text +Title as [^[]*\n +from basic:title, dynamic:title$/m);
    assert.match(text, /^ {2}owner_id +text +User who owns the item → users\.user_id\.$/m);
    for (const line of text.split("\n")) assert.ok(line.length <= 80 || !line.trim().includes("  "), line);
  });

  test("as text says of tables with instants what makes them UTC", async () => {
    assert.match(
      await shown(["run"]),
      /\n\nA timestamp is an instant, .*SET TimeZone = 'UTC' \(other tools: docs\/tables\.md#time-zones\)\n$/,
    );
    assert.doesNotMatch(await shown(["content_tags"]), /TimeZone/);
  });

  test("of one table is that table alone, in each format", async () => {
    for (const format of ["text", "json", "dbt"]) {
      const text = await shown(["content_tags", "--format", format]);
      assert.match(text, /content_tags/);
      assert.doesNotMatch(text, /content_categories/);
    }
    await assert.rejects(shown(["content_tag"]), {
      code: "answer.nothing",
      message: /^There is no table content_tag \(did you mean .*"content_tags"/,
    });
    assert.match(await shown(["mapping_coverage"]), /^mapping_coverage: .*\n +destination_id /);
  });

  test("as sources of dbt has a test for every key, required column and reference", async () => {
    const lines = (await schema("dbt")).split("\n").map((line) => line.trim());
    const count = (start: string) => lines.filter((line) => line.startsWith(start)).length;
    const of = (each: (table: Table) => number) => TABLES.reduce((sum, table) => sum + each(table), 0);
    assert.equal(count("- unique"), TABLES.length);
    assert.equal(
      count("- not_null"),
      of(({ columns }) => columns.filter(({ nullable }) => !nullable).length),
    );
    assert.equal(
      count("- relationships:"),
      of(({ references }) => references.length),
    );
    assert.equal(count("severity: warn"), count("- relationships:"));
  });
});

test("the views of a warehouse have the columns that are shown, each with its type and comment", async () => {
  const sql = `SELECT table_name, column_name, replace(data_type, ' WITH TIME ZONE', 'TZ') AS data_type, comment
     FROM duckdb_columns() WHERE NOT internal`;
  const asked = ["--format", "json", "--warehouse", await sampleWarehouse()];
  const columns: Record<"table_name" | "column_name" | "data_type" | "comment", string | null>[] = JSON.parse(
    await capture(sqlCommand, [sql, ...asked]),
  );
  assert.deepEqual(
    columns.filter(({ comment }) => comment === null || comment === ""),
    [],
  );
  const warehouse = await sampleWarehouse();
  const ofRun = (...args: string[]) => shown([...args, "--warehouse", warehouse]);
  const { views } = JSON.parse(await ofRun("--format", "json"));
  assert.equal(views.length, VIEWS.length);
  const [text, dbt] = [await ofRun(), await ofRun("--format", "dbt")];
  for (const { name, columns: declared } of VIEWS) {
    const there = columns.filter(({ table_name }) => table_name === name);
    assert.deepEqual(
      there.slice(0, declared.length).map((each) => [each.column_name, each.data_type, each.comment]),
      declared.map((each) => [each.name, DUCKDB_TYPES[each.type], each.comment]),
    );
    const shown: Column[] = views.find((each: { name: string }) => each.name === name).columns;
    assert.deepEqual(
      shown.map((each) => [each.name, each.comment]),
      there.map((each) => [each.column_name, each.comment]),
    );
    const own = there.slice(declared.length);
    assert.equal(own.length > 0, ["content_wide", "content_mapped_wide"].includes(name), name);
    for (const { column_name, data_type, comment } of own) {
      const described = `          - name: ${JSON.stringify(column_name)}\n            description: ${JSON.stringify(comment)}\n`;
      assert.ok(dbt.includes(`${described}            data_type: ${data_type?.toLowerCase()}\n`), described);
      assert.ok(text.includes(`\n  ${column_name} `), column_name ?? "");
    }
  }
  const wide = JSON.parse(await ofRun("content_wide", "--format", "json")).views[0].columns;
  const typeOf = (column: string) => wide.find(({ name }: Column) => name === column)?.type;
  assert.deepEqual(["title", "region", "budget"].map(typeOf), ["text", "text[]", "double"]);
  const tables = JSON.parse(await capture(sqlCommand, [`FROM duckdb_views() WHERE NOT internal`, ...asked]));
  assert.deepEqual(
    tables.map((each: Record<string, string>) => [each.view_name, each.comment]).toSorted(),
    VIEWS.map((view) => [view.name, tableComment(view)]).toSorted(),
  );
});

test("names that were chosen at the service break no form of the schema", async () => {
  const warehouse = await sampleWarehouse();
  const name = "Region: EU | #1 \u001b[31m`x`\n幅";
  const file = join(warehouse, "current", "warehouse.duckdb");
  await chmod(file, 0o600);
  await chmod(dirname(file), 0o700);
  const database = await DuckDBInstance.create(file);
  const connection = await database.connect();
  await connection.run("UPDATE custom_fields SET name = $1, display_label = $1 WHERE name = 'region'", [
    name,
  ]);
  await createViews(connection);
  connection.closeSync();
  database.closeSync();
  const of = (format: string) => shown(["content_wide", "--format", format, "--warehouse", warehouse]);
  const column = JSON.parse(await of("json")).views[0].columns.find((each: Column) => each.name === name);
  assert.ok(column.comment.includes(name), "the comment has the name too");
  assert.ok((await of("dbt")).includes(`\n          - name: ${JSON.stringify(name)}\n`));
  const lines = (await of("text")).split("\n");
  const text = "Region: EU | #1 [31m`x`↵幅";
  const line = lines.find((each) => each.startsWith(`  ${text} `)) ?? "";
  const title = lines.find((each) => each.startsWith("  title ")) ?? "";
  assert.equal(line.indexOf("text[]") + 1, title.indexOf("text  "), "the last character is two cells wide");
  for (const format of ["json", "dbt", "text"]) assert.ok(!(await of(format)).includes("\u001b"), format);
});

test("personal columns say what the policy of the current run does, and a damaged database leaves views as declared", async () => {
  const warehouse = await sampleWarehouse();
  const dropped = "Name. Dropped by the personal-data policy.";
  for (const format of ["text", "json", "dbt"]) {
    const text = await shown(["users", "--format", format, "--warehouse", warehouse]);
    assert.ok(text.includes(dropped), format);
    assert.ok(!(await shown(["users", "--format", format])).includes("Dropped"), format);
  }
  const declared = await shown(["content_wide"]);
  const file = join(warehouse, "current", "warehouse.duckdb");
  await chmod(file, 0o600);
  await writeFile(file, "no database");
  assert.equal(await shown(["content_wide", "--warehouse", warehouse]), declared);
});
