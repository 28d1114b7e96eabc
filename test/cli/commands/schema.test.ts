import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { schemaCommand } from "../../../src/cli/commands/schema.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { TABLES } from "../../../src/tables/all.ts";
import type { Table } from "../../../src/tables/declare.ts";
import { capture } from "../capture.ts";

const schema = (format: string) => capture(schemaCommand, ["--format", format]);

suite("the schema", () => {
  test("as JSON has every table with its key, and every column with its type and its API fields", async () => {
    const document = JSON.parse(await schema("json"));
    assert.deepEqual(Object.keys(document), ["tables", "unplaced"]);
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

  test("as text is what is shown unless told otherwise", async () => {
    assert.equal(await schema("text"), await capture(schemaCommand, []));
  });

  for (const format of ["text", "markdown"]) {
    test(`as ${format} has every table and every column`, async () => {
      const text = await schema(format);
      for (const table of TABLES) {
        assert.ok(text.includes(table.name), table.name);
        for (const { name } of table.columns) assert.ok(text.includes(name), `${table.name}.${name}`);
      }
      assert.match(text, /\n$/);
    });
  }

  test("as text has the API fields of each column, and keeps to the width of a screen", async () => {
    const text = await capture(schemaCommand, ["content"], 80);
    assert.match(text, /^ {2}title +text +Title; .*\n +from basic:title, dynamic:title$/m);
    assert.match(text, /^ {2}owner_id +text +[^[]*\[→\s+users\]$/m);
    for (const line of text.split("\n")) assert.ok(line.length <= 80 || !line.trim().includes("  "), line);
  });

  test("of one table is that table alone, in each format", async () => {
    for (const format of ["text", "json", "markdown", "mermaid", "dbt"]) {
      const text = await capture(schemaCommand, ["content_tags", "--format", format]);
      assert.match(text, /content_tags/);
      assert.doesNotMatch(text, /content_categories/);
    }
    await assert.rejects(capture(schemaCommand, ["content_tag"]), {
      code: "config.not_found",
      message: /^There is no table content_tag \(did you mean .*"content_tags"/,
    });
    await assert.rejects(capture(schemaCommand, ["mapping_coverage"]), {
      code: "config.not_found",
      message: /^mapping_coverage is a view, .*sql "DESCRIBE mapping_coverage"\.$/,
    });
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

  test("as a diagram has every table with its key, and a line for every reference", async () => {
    const text = await schema("mermaid");
    assert.match(text, /^erDiagram\n/);
    for (const { name, key, references } of TABLES) {
      const [, columns = ""] = new RegExp(`^  ${name} \\{\n(.*?)^  \\}`, "ms").exec(text) ?? [];
      for (const column of key) assert.match(columns, new RegExp(`^    \\w+ ${column} PK`, "m"), name);
      for (const { table, columns } of references) {
        assert.ok(
          text.includes(`  ${table} ||--o{ ${name} : "${columns.join(" ")}"\n`),
          `${name} to ${table}`,
        );
      }
    }
  });
});

test("a reader that goes away early is no failure", async () => {
  const schema = `"${process.execPath}" "${packagePath("src/cli/main.ts")}" schema --format json`;
  const { stdout, stderr } = await promisify(execFile)("bash", [
    "-c",
    `${schema} | head -c 10 > /dev/null; echo "\${PIPESTATUS[0]}"`,
  ]);
  assert.deepEqual([stdout, stderr], ["0\n", ""]);
});
