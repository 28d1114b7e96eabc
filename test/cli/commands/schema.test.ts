import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { schemaCommand } from "../../../src/cli/commands/schema.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { TABLES } from "../../../src/tables/all.ts";
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
    assert.deepEqual(Object.keys(content), ["name", "comment", "key", "columns"]);
    assert.deepEqual(content.key, ["content_id"]);
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
