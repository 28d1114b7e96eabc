/** `diff --content` over two nights of the sample whose items were edited, held against the Parquet files of both. */
import assert from "node:assert/strict";
import { chmod, cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance, type Json } from "@duckdb/node-api";
import { diffCommand } from "../../../src/cli/commands/diff.ts";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { CONTENT_TABLES } from "../../../src/tables/all.ts";
import type { ColumnType, Table } from "../../../src/tables/declare.ts";
import { fewSampleNights, site } from "../../audit/two-nights.ts";
import { long } from "../../long.ts";
import { capture, outcome } from "../capture.ts";

const { out, folder, night } = await site();
const [before] = await fewSampleNights(folder);
const after = join(folder, "edited");

type Item = Record<string, unknown> & { id: string };

/** One of the first night's items that has all of these. */
let items: Item[] = [];
const edited = new Map<string, Item>();
function edit(has: readonly string[], change: (item: Item) => object): string {
  const isFull = (value: unknown) =>
    Array.isArray(value) ? value.length > 0 : value != null && value !== "";
  const found = items.find((item) => !edited.has(item.id) && has.every((name) => isFull(item[name])));
  assert.ok(found, has.join(", "));
  const changed = change(found);
  // What is of the moment alone is no edit to the service.
  const updated = "favorites" in changed ? {} : { updated_at: "2026-11-01T08:00:00.000000Z" };
  edited.set(found.id, { ...found, ...changed, ...updated });
  return found.id;
}

async function editedNights() {
  const file = join(before, "content.ndjson");
  const signed = (name: string) => `https://images.example/x.png?v=1&X-Amz-Signature=${name}&X-Amz-Date=1`;
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  items = lines.map((line) => JSON.parse(line));
  const sign = (item: Item, name: string) =>
    "thumbnail_url" in item ? { ...item, thumbnail_url: signed(name) } : item;
  await writeFile(file, items.map((item) => `${JSON.stringify(sign(item, "one"))}\n`).join(""));
  const ids = {
    title: edit(["title"], () => ({ title: "A title of its own" })),
    body: edit(["content"], ({ content }) => ({
      content: `${String(content).slice(0, 200)} It was due to Monday. ${String(content).slice(200)}`,
    })),
    tag: edit(["tags"], ({ tags }) => ({ tags: [...(tags as string[]), "fresh", "fresh"] })),
    order: edit(["categories", "personas"], () => ({ tags: ["one", "two", "three"] })),
    attachment: edit(["attachments"], ({ attachments }) => ({
      attachments: (attachments as object[]).map((each, at) => ({
        ...each,
        ...(at === 0 && { filename: "another name.png" }),
      })),
    })),
    place: edit(["event"], ({ event }) => ({ event: { ...(event as object), latitude: 12.5 } })),
    favorite: edit(["favorites"], () => ({ favorites: [] })),
    value: edit(["custom_fields"], ({ custom_fields }) => {
      const fields = Object.entries(custom_fields as object);
      const [id = ""] = fields.find(([, each]) => typeof each === "string" && each.includes(" ")) ?? [];
      return { custom_fields: { ...Object.fromEntries(fields), [id]: "another text" } };
    }),
  };
  const [removed, added] = [items.at(-1)?.id ?? "", "66d57e529df0deca3500aaaa"];
  const copy = { ...items[3], id: added, slug: "a-new-one", content_number: 99_999 };
  const now = [...items.filter(({ id }) => id !== removed).map((item) => edited.get(item.id) ?? item), copy];
  await cp(before, after, { recursive: true });
  await writeFile(
    join(after, "content.ndjson"),
    now.map((item) => `${JSON.stringify(sign(item as Item, "two"))}\n`).join(""),
  );
  // The tags of one are put into another order, which the first night has as well.
  const firstNight = items.map((item) =>
    item.id === ids.order ? { ...item, tags: ["three", "one", "two"] } : item,
  );
  await writeFile(file, firstNight.map((item) => `${JSON.stringify(sign(item, "one"))}\n`).join(""));
  return { ...ids, removed, added };
}

const ids = await editedNights();
const first = await night(before, "nightly");
const second = await night(after, "nightly");

/** Of the moment, of who asks, or of how the item was read, as the specification describes them. */
const VOLATILE = /^(?:can_\w+|favorite\w*|single_item_read|previewable)$/;
const VOLATILE_TABLES = ["content_available_actions", "content_current_editors", "content_favorites"];

const COMPARED: readonly Table[] = CONTENT_TABLES.filter(
  ({ name, columns }: Table) => columns[0]?.name === "content_id" && !VOLATILE_TABLES.includes(name),
);
const SAMPLE_VALUES: Readonly<Record<ColumnType, string>> = {
  text: "'a text'",
  json: "'{}'",
  boolean: "true",
  integer: "0",
  bigint: "0",
  double: "0.5",
  timestamp: "TIMESTAMPTZ '2026-11-01 08:00:00Z'",
  date: "DATE '2026-11-01'",
};

const diff = (...args: string[]) => capture(diffCommand, ["--content", ...args, "--warehouse", out]);
const answered = async (...args: string[]) => JSON.parse(await diff(...args, "--format", "json"));

type Row = Record<string, Json>;

/** Rows of a table's Parquet files by item, without what is volatile. */
async function parquetRows(run: string, table: string): Promise<Map<string, Row[]>> {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    const files = join(out, "runs", run, "parquet", table, "*.parquet");
    const rows = (await connection.runAndReadAll(`FROM '${files}' ORDER BY ALL`)).getRowObjectsJson();
    const kept = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row)
          .filter(
            ([name]) =>
              !VOLATILE.test(name) && !(table === "content_custom_field_values" && name === "updated_at"),
          )
          .map(([name, cell]) => [name, typeof cell === "string" ? cell.replace(/&X-Amz-.*/, "") : cell]),
      ),
    );
    return Map.groupBy(kept, ({ content_id }) => String(content_id));
  } finally {
    connection.closeSync();
  }
}

/** The whole answer. */
const whole = await answered();

interface Change {
  readonly content_id: string;
  readonly table: string;
  readonly row: string | null;
  readonly column: string | null;
  readonly change: string;
  readonly before: string | null;
  readonly after: string | null;
}

test("the items, tables and columns that differ are those that differ in the Parquet files of both runs", async () => {
  const changes: Change[] = whole.changes;
  const manifest = JSON.parse(await readFile(join(out, "runs", second, "manifest.json"), "utf8"));
  const tables = Object.keys(manifest.rows).filter(
    (name) =>
      /^content(?:_|$)/.test(name) &&
      !/mapped|payload|history|types/.test(name) &&
      !VOLATILE_TABLES.includes(name),
  );
  const expected: string[] = [];
  const cells: string[] = [];
  for (const table of tables) {
    const [one, other] = [await parquetRows(first, table), await parquetRows(second, table)];
    for (const id of new Set([...one.keys(), ...other.keys()])) {
      if (id === ids.removed || id === ids.added) continue;
      const [old = [], now = []] = [one.get(id), other.get(id)];
      // The order of a list counts, the numbers of its places do not.
      const rowsIn = (rows: readonly Row[]) =>
        JSON.stringify(rows.map(({ ordinal: _, ...row }) => JSON.stringify(row)));
      if (rowsIn(old) === rowsIn(now)) continue;
      expected.push(`${id} ${table}`);
      if (table !== "content") continue;
      for (const name of Object.keys(now[0] ?? {}))
        if (JSON.stringify(old[0]?.[name]) !== JSON.stringify(now[0]?.[name])) cells.push(`${id} ${name}`);
    }
  }
  const ofItems = changes.filter(({ content_id }) => content_id !== ids.removed && content_id !== ids.added);
  assert.deepEqual(
    [...new Set(ofItems.map(({ content_id, table }) => `${content_id} ${table}`))].toSorted(),
    expected.toSorted(),
  );
  assert.deepEqual(
    ofItems
      .filter(({ table }) => table === "content")
      .map(({ content_id, column }) => `${content_id} ${column}`)
      .toSorted(),
    cells.toSorted(),
  );
  const changed = new Set(expected.map((each) => each.split(" ")[0]));
  assert.deepEqual(
    [whole.items_added, whole.items_removed, whole.items_with_changed_content],
    [1, 1, changed.size],
  );
  assert.ok(changed.size >= 6 && !changed.has(ids.favorite), "a favorite is no change");
});

test("a change is told by its column, before and after; of a long text the first difference", async () => {
  const changes: Change[] = whole.changes;
  const of = (id: string, table: string) =>
    changes.filter((each) => each.content_id === id && each.table === table);
  const told = (id: string, table: string) =>
    of(id, table).map(({ column, change, before, after }) => [column, change, before, after]);
  assert.deepEqual(told(ids.removed, "content"), [[null, "removed", null, null]]);
  assert.deepEqual(told(ids.added, "content"), [[null, "added", null, null]]);
  const [title] = of(ids.title, "content");
  assert.equal(title?.column, "title");
  assert.equal(title.after, "A title of its own");
  const body = of(ids.body, "content").find(({ column }) => column === "content");
  assert.match(body?.after ?? "", /^….{20,80}It was due to Monday\..*…$/s);
  assert.match(body?.before ?? "", /^…/);
  assert.ok((body?.after ?? "").length <= 302, body?.after ?? "");
  assert.deepEqual(told(ids.tag, "content_tags"), [
    [null, "added", null, "tag: fresh"],
    [null, "added", null, "tag: fresh"],
  ]);
  assert.deepEqual(told(ids.order, "content_tags"), [[null, "reordered", null, null]]);
  const files = told(ids.attachment, "content_attachments");
  assert.deepEqual(files.map(([, change]) => change).toSorted(), ["added", "removed"]);
  assert.match(files.map(([, , , text]) => text).join(""), /filename: another name\.png/);
  assert.deepEqual(
    of(ids.place, "content_events").map(({ column, after }) => [column, after]),
    [["latitude", "12.5"]],
  );
});

long("a table and an item can be asked for, and a volatile table shows what it has", async () => {
  const text = await diff("--limit", "3");
  const lead = `Content of run ${first} and of run ${second}. 1 item added, 1 removed, `;
  assert.ok(text.startsWith(lead), text);
  const [, more, all] = /\nand (\d+) more rows; --limit (\d+) shows all\n/.exec(text) ?? [];
  assert.equal(Number(all), 3 + Number(more));
  assert.match(
    await diff("--table", "content_tags"),
    /\. 2 items whose rows of content_tags, or their order, changed\.\n/,
  );
  const tags = await answered("--table", "content_tags");
  assert.deepEqual([tags.items_added, tags.items_removed, tags.items_with_changed_content], [0, 0, 2]);
  assert.ok(tags.changes.every(({ table }: Change) => table === "content_tags"));
  const slug = String(items.find(({ id }) => id === ids.title)?.slug);
  for (const item of [ids.title, slug]) {
    const found = await answered("1", "2", "--item", item);
    assert.deepEqual([...new Set(found.changes.map(({ content_id }: Change) => content_id))], [ids.title]);
    assert.equal(found.item, ids.title);
  }
  const gone = await answered("--item", ids.removed);
  assert.deepEqual([gone.items_removed, gone.changes.length], [1, 1]);
  const favorites = await answered("--table", "content_favorites");
  assert.deepEqual(favorites.changes.map(({ content_id, change }: Change) => [content_id, change])[0], [
    ids.favorite,
    "removed",
  ]);
  assert.match(await diff("--item", ids.favorite), / Nothing changed\./);
});

test("a changed value of a custom field is told as changed, by the names of item and field, on a screen too", async () => {
  const changes = whole.changes.filter(({ content_id }: Change) => content_id === ids.value);
  const value = changes.find(({ column }: Change) => column === "value");
  const names = new Set(
    (await readFile(join(before, "custom_fields.ndjson"), "utf8")).match(/(?<="name":")[^"]+/g),
  );
  assert.deepEqual(
    [value?.change, value?.after, names.has(value?.row ?? "")],
    ["changed", "another text", true],
  );
  assert.ok(changes.every(({ change }: Change) => change === "changed"));
  const text = await capture(diffCommand, ["--content", "--item", ids.value, "--warehouse", out], 100);
  assert.ok(text.split("\n").every((line) => line.length <= 100));
  const title = String(items.find(({ id }) => id === ids.value)?.title).slice(0, 8);
  assert.ok(text.includes(title) && !text.includes(ids.value), text);
});

test("CSV has the same changes", async () => {
  const csv = await diff("--format", "csv");
  assert.match(csv, /^content_id,title,table,row,column,change,before,after\n/);
  assert.equal(csv.match(/^[0-9a-f]{24},/gm)?.length, whole.changes.length);
});

async function refused(exitCode: 2 | 3, ...args: string[]): Promise<string> {
  const { text, error } = await outcome(diffCommand, [...args, "--warehouse", out]);
  assert.deepEqual([text, error?.exitCode], ["", exitCode], String(error));
  assert.match(error?.message ?? "", /^[^\n]+\.$/);
  return error?.message ?? "";
}

test("what cannot be compared is told in a sentence, and ends with 2, or 3 if it does not exist", async () => {
  assert.match(
    await refused(2, "--content", "--table", "content_tgas"),
    /^There is no table "content_tgas" of items in both runs\. The nearest .*"content_tags"/,
  );
  assert.match(await refused(2, "--content", "--table", "users"), / of items in both runs\./);
  assert.match(
    await refused(3, "--content", "--item", "no-such-item"),
    /^There is no item "no-such-item", neither by ID nor by slug or title\. /,
  );
  assert.match(await refused(3, "--item", "no-such-item"), /"no-such-item"/);
  assert.match(await refused(2, "2", "1", "--content"), /is later than/);
});

long(
  "runs of Parquet files alone, one of them with fewer columns, are compared by what both have",
  async () => {
    const there = await site();
    const files = async (data: string, name: string) =>
      there.night(data, new URL(`../../run/${name}-pipeline.ts`, import.meta.url));
    await there.night(before, "nightly");
    await files(after, "parquet");
    const json = JSON.parse(
      await capture(diffCommand, ["--content", "--format", "json", "--warehouse", there.out]),
    );
    const both = ["content", "content_tags", "content_events"];
    assert.deepEqual(
      json.changes,
      whole.changes.filter(({ table }: Change) => both.includes(table)),
    );
    assert.match(json.lead, / Not compared, because only one run has them: content_\w+, .* and 15 more\.$/);
  },
);

test("a row that was changed, added or removed is found in every table that is compared", async () => {
  const files = [first, second].map((run) => join(out, "runs", run, "warehouse.duckdb"));
  const whole = await Promise.all(files.map((file) => readFile(file)));
  await Promise.all(files.map((file) => chmod(file, 0o644)));
  const [earlier = "", later = ""] = files;
  const database = await DuckDBInstance.create(later);
  const connection = await database.connect();
  await connection.run(`ATTACH '${earlier}' AS earlier`);
  const both = await connection.runAndReadAll(
    "SELECT content_id FROM content SEMI JOIN earlier.content USING (content_id) ORDER BY content_id LIMIT 3",
  );
  const [changed = "", added = "", removed = ""] = both
    .getRowObjectsJson()
    .map(({ content_id }) => String(content_id));
  await connection.run("UPDATE content SET title = 'changed' WHERE content_id = $1", [changed]);
  for (const { name, key, columns } of COMPARED) {
    if (name === "content") continue;
    for (const catalog of ["", "earlier."])
      await connection.run(
        `DELETE FROM ${catalog}${name} WHERE content_id IN ('${changed}', '${added}', '${removed}')`,
      );
    const insert = (catalog: string, id: string, extra: string) => {
      const cells = columns.map((column) => {
        if (column.name === "content_id") return `'${id}'`;
        if (column.name === "extra") return extra;
        return column.nullable && !key.includes(column.name) ? "NULL" : SAMPLE_VALUES[column.type];
      });
      return connection.run(
        `INSERT INTO ${catalog}${name} (${columns.map((column) => `"${column.name}"`).join(", ")}) VALUES (${cells.join(", ")})`,
      );
    };
    await insert("earlier.", changed, "NULL");
    await insert("", changed, `'{"a": 1}'`);
    await insert("", added, "NULL");
    await insert("earlier.", removed, "NULL");
  }
  await connection.run("DETACH earlier");
  connection.closeSync();
  database.closeSync();
  const { changes } = await answered();
  const places = [changed, added, removed];
  for (const { name, key } of COMPARED) {
    const found = changes
      .filter(({ table, content_id }: Change) => table === name && places.includes(content_id))
      .map(({ content_id, change }: Change) => `${places.indexOf(content_id)} ${change}`);
    // A changed row of a list is another row.
    const isList = key.join() === "content_id,ordinal";
    const ofChanged = isList ? ["0 added", "0 removed"] : ["0 changed"];
    const expected = name === "content" ? ["0 changed"] : [...ofChanged, "1 added", "2 removed"];
    assert.deepEqual(
      expected.filter((each) => !found.includes(each)),
      [],
      name,
    );
  }
  for (const [place, file] of files.entries()) await writeFile(file, whole[place] ?? "");
  await Promise.all(files.map((file) => chmod(file, 0o444)));
});

test("runs of two instances, and one whose files are gone, cannot be compared", async () => {
  const file = join(out, "runs", first, "manifest.json");
  const written = await readFile(file, "utf8");
  await chmod(file, 0o644);
  await writeFile(
    file,
    JSON.stringify({
      ...JSON.parse(written),
      instance: { id: "another", origin: "https://another.example" },
    }),
  );
  assert.match(
    await refused(2, "--content"),
    /^The runs are from two instances, \S+ of another and \S+ of \w+; /,
  );
  await writeFile(file, written);
  await capture(runsCommand, ["prune", "--keep", "1", "--warehouse", out]);
  assert.match(await refused(3, "--content"), /^There is no run "\S+" in /);
});
