import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { DuckDBConnection } from "@duckdb/node-api";
import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { compareUtf8 } from "../../src/common/utf8-order.ts";
import { exportTables, fillTable, type TableFiles } from "../../src/load/load-table.ts";
import { checkpoint, type Database } from "../../src/storage/database.ts";
import { createTable } from "../../src/storage/ddl.ts";
import { all, execute, scalar, toSafeInteger } from "../../src/storage/duckdb.ts";
import type { DatabaseConnections } from "../../src/storage/parallel.ts";
import { PartWriter, type StagedPart } from "../../src/storage/parquet-file.ts";
import { TableBuilder } from "../../src/storage/table-builder.ts";
import { either } from "../long.ts";
import fc from "../properties.ts";
import { until } from "../until.ts";
import {
  build,
  column,
  stagePart,
  stageTags,
  TAGS,
  type Tag,
  TYPES,
  table,
  temporaryFolder,
} from "./fixtures.ts";

const tag = (content_id: string, ordinal = 0, text: string | null = `${content_id}-${ordinal}`): Tag => ({
  content_id,
  ordinal,
  tag: text,
});

const inKeyOrder = (tags: readonly Tag[]): Tag[] =>
  tags.toSorted((a, b) => compareUtf8(a.content_id, b.content_id) || a.ordinal - b.ordinal);

/** A database in a folder of its own, and what is loaded into it. */
class Setting implements AsyncDisposable {
  readonly folder: string;
  readonly database: Database;

  private constructor(folder: string, database: Database) {
    this.folder = folder;
    this.database = database;
  }

  static async in(t: TestContext): Promise<Setting> {
    const folder = await temporaryFolder(t);
    await mkdir(join(folder, "parts"));
    return new Setting(folder, await build(folder));
  }

  get connection(): DuckDBConnection {
    return this.database.connection;
  }

  get files() {
    return { finalDirectory: join(this.folder, "result"), sequence: 42 };
  }

  part(name: number | string): string {
    return join(this.folder, "parts", `${name}.parquet`);
  }

  load(of: typeof TAGS, from: readonly StagedPart[], bounds: readonly string[] = []): Promise<TableFiles> {
    return fillTable(this.connection, { table: of, from, bounds, ...this.files });
  }

  /** Loads TAGS from parts with these rows. */
  async loadTags(parts: readonly (readonly Tag[])[], bounds: readonly string[] = []): Promise<TableFiles> {
    const staged = parts.map((tags, place) => stageTags(this.part(place), tags));
    return this.load(TAGS, await Promise.all(staged), bounds);
  }

  async tags(): Promise<Tag[]> {
    const rows = await all(this.connection, "SELECT content_id, ordinal, tag FROM content_tags");
    return rows.map((row) => ({
      content_id: String(row.content_id),
      ordinal: toSafeInteger(row.ordinal ?? null),
      tag: row.tag === null ? null : String(row.tag),
    }));
  }

  /** Rows of the Parquet files. */
  async rows({ files }: TableFiles): Promise<Record<string, unknown>[]> {
    return (
      await Promise.all(files.map(({ path }) => readRows(join(this.files.finalDirectory, path))))
    ).flat();
  }

  async metadata({ files }: TableFiles) {
    const bytes = await readFile(join(this.files.finalDirectory, files[0]?.path ?? ""));
    return parquetMetadataAsync(new Uint8Array(bytes).buffer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database[Symbol.asyncDispose]();
  }
}

async function readRows(path: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: new Uint8Array(await readFile(path)).buffer, compressors });
}

/** Number of rows of each file, by the number in its name. */
const rowsOfFiles = ({ files }: TableFiles) =>
  Object.fromEntries(files.map(({ path, rows }) => [path.slice(-12, -8), rows]));

const duplicatesIn = ({ files }: TableFiles) =>
  files.reduce((sum, { duplicateKeys }) => sum + duplicateKeys, 0);

/** Parts, bounds of ranges, and rows by the number of the file that has them. */
const RANGES: readonly (readonly [
  what: string,
  parts: readonly (readonly Tag[])[],
  bounds: readonly string[],
  files: Readonly<Record<string, number>>,
  duplicateKeys?: number,
])[] = [
  ["no file without rows", [[tag("a"), tag("z")]], ["a", "b", "c", "z"], { "0000": 1, "0003": 1 }],
  [
    "keys that more than one row has, counted",
    [
      [tag("a"), tag("a"), tag("a"), tag("a", 1), tag("m")],
      [tag("m"), tag("n")],
    ],
    ["a", "m"],
    { "0000": 4, "0001": 3 },
    2,
  ],
];

for (const [what, parts, bounds, files, duplicateKeys = 0] of RANGES) {
  test(`a table has ${what}`, async (t) => {
    await using at = await Setting.in(t);
    const loaded = await at.loadTags(parts, bounds);
    assert.deepEqual(rowsOfFiles(loaded), files);
    assert.match(loaded.files[0]?.path ?? "", /^parquet\/content_tags\/content_tags-000042-0000\.parquet$/);
    assert.deepEqual([loaded.rows, loaded.stagedRows], [parts.flat().length, parts.flat().length]);
    assert.equal(duplicatesIn(loaded), duplicateKeys);
    assert.deepEqual(await at.tags(), inKeyOrder(parts.flat()));
    assert.deepEqual(await at.rows(loaded), inKeyOrder(parts.flat()));
    await at.database.close();
    assert.equal(existsSync(join(at.folder, "warehouse.duckdb.wal")), false);
  });
}

for (const parts of [[], [[]]]) {
  test(`a table with ${parts.length} parts without rows has one Parquet file, with columns and comments`, async (t) => {
    await using at = await Setting.in(t);
    const loaded = await at.loadTags(parts, ["a", "b"]);
    assert.deepEqual(rowsOfFiles(loaded), { "0000": 0 });
    const { schema, key_value_metadata } = await at.metadata(loaded);
    const types = schema.slice(1).map(({ name, type }) => `${name} ${type}`);
    assert.deepEqual(types, ["content_id BYTE_ARRAY", "ordinal INT32", "tag BYTE_ARRAY"]);
    const entries = new Map(key_value_metadata?.map(({ key, value }) => [key, value]));
    const said = ["table", "comment", "key"].map((key) => entries.get(key));
    assert.deepEqual(said, ["content_tags", TAGS.comment, "content_id,ordinal"]);
    assert.equal(JSON.parse(entries.get("columns") ?? "").tag, TAGS.columns[2]?.comment);
    const comments = `SELECT comment FROM duckdb_tables()
      UNION ALL (SELECT comment FROM duckdb_columns() WHERE NOT internal ORDER BY column_index)`;
    assert.deepEqual(
      (await all(at.connection, comments)).map((row) => row.comment),
      [`${TAGS.comment} Key: content_id, ordinal.`, ...TAGS.columns.map((each) => each.comment)],
    );
  });
}

test("I4: a part with other rows or other keys than it says fails the run", async (t) => {
  for (const [wrong, message] of [
    [{ rows: 3 }, /content_tags should have 3 rows, but 2 were written/],
    [{ lastKey: "b" }, /content_tags/],
  ] as const) {
    await using at = await Setting.in(t);
    const staged = { ...(await stageTags(at.part(1), [tag("a"), tag("z")])), ...wrong };
    await assert.rejects(at.load(TAGS, [staged], ["a", "m"]), { code: "verify.failed", message });
  }
});

test("a value that a column does not allow fails the run without showing the value", async (t) => {
  await using at = await Setting.in(t);
  const select = "SELECT 'a' AS content_id, NULL::INTEGER AS ordinal, 'canary@example.org' AS tag";
  const parts = [await stagePart(at.part(1), select)];
  await assert.rejects(at.load(TAGS, parts), { message: /^(?!.*canary).*Constraint Error/s });
});

test("every column type arrives in DuckDB and in Parquet as it was staged", async (t) => {
  await using at = await Setting.in(t);
  const select = `SELECT * FROM (VALUES
    ('a', true, 2147483647, 9007199254740993, 0.1, TIMESTAMPTZ '2026-03-01 09:30:12.123456+00', DATE '2026-03-01', '{"n":12345678901234567890}'),
    ('b', false, -1, -9223372036854775807, 1e300, TIMESTAMPTZ '1969-12-31 23:59:59.999+00', DATE '1970-01-01', 'null'),
    ('c', NULL, NULL, NULL, NULL, NULL, NULL, NULL)
  ) r(id, "boolean", "integer", "bigint", "double", "timestamp", "date", "json")`;
  const loaded = await at.load(TYPES, [await stagePart(at.part(1), select)]);
  const types = await all(
    at.connection,
    "SELECT data_type FROM duckdb_columns() WHERE table_name = 'types' ORDER BY column_index",
  );
  assert.deepEqual(
    types.map((row) => row.data_type),
    ["VARCHAR", "BOOLEAN", "INTEGER", "BIGINT", "DOUBLE", "TIMESTAMP WITH TIME ZONE", "DATE", "JSON"],
  );
  const other = `SELECT count(*) FROM (FROM (${select}) EXCEPT FROM types)`;
  assert.deepEqual([loaded.rows, await scalar(at.connection, other)], [3, 0]);
  // By another reader; that of instants is exact to the millisecond.
  assert.deepEqual(await at.rows(loaded), await readRows(at.part(1)));
});

test("parts are read by ranges of keys of any script and length", async (t) => {
  await using at = await Setting.in(t);
  const ids = ["a", "é", "\uffee", "😀", "z", "\u{10ffff}"].flatMap((id) => [id, `${id.repeat(40)}!`]);
  const builder = new TableBuilder(TAGS);
  for (const id of ids) builder.append([id, 0, id]);
  const file = at.part(1);
  builder.take((rows) => new PartWriter().write(file, rows));
  const sorted = ids.toSorted(compareUtf8);
  const staged = { file, rows: ids.length, firstKey: sorted[0] ?? "", lastKey: sorted.at(-1) ?? "" };
  const loaded = await at.load(TAGS, [staged], sorted);
  assert.equal(loaded.files.length, ids.length);
  assert.deepEqual(
    (await at.tags()).map((row) => row.content_id),
    sorted,
  );
});

test("the same rows give the same Parquet bytes, however they were staged", async (t) => {
  const rows = Array.from({ length: 5_000 }, (_, index) =>
    tag(`id-${(index * 7919) % 1009}`, index, `tag ${index % 37}`),
  );
  const digests: Buffer[][] = [];
  for (const parts of [[rows], [rows.slice(1_700), rows.slice(1, 1_700), rows.slice(0, 1)]]) {
    await using at = await Setting.in(t);
    const { files } = await at.loadTags(parts, ["id-0", "id-5"]);
    digests.push(await Promise.all(files.map(({ path }) => readFile(join(at.files.finalDirectory, path)))));
  }
  assert.equal(digests[0]?.length, 2);
  assert.deepEqual(digests[0], digests[1]);
});

const FILES = table(
  "files",
  "pooled",
  ["file_id"],
  [column("file_id", "text", false), column("name", "text"), column("updated_at", "timestamp")],
);

const fileRows = (values: string) =>
  `SELECT file_id, name, updated_at::TIMESTAMPTZ AS updated_at FROM (VALUES ${values}) r(file_id, name, updated_at)`;

test("what several items mention is kept once: the latest update", async (t) => {
  await using at = await Setting.in(t);
  const parts = [
    await stagePart(
      at.part(1),
      fileRows("('f', 'old', '2026-01-01'), ('g', 'new', '2026-02-01'), ('h', 'b', NULL)"),
    ),
    await stagePart(
      at.part(2),
      fileRows("('g', 'old', '2026-01-01'), ('h', 'a', NULL), ('e', 'only', NULL)"),
    ),
  ];
  for (const order of [parts, parts.toReversed()]) {
    await at.connection.run("DROP TABLE IF EXISTS files");
    const loaded = await at.load(FILES, order, ["z"]);
    const rows = await all(at.connection, "SELECT file_id, name FROM files");
    const shown = rows.map((row) => `${row.file_id} ${row.name}`);
    assert.deepEqual(shown, ["e only", "f old", "g new", "h a"]);
    const { rows: kept, stagedRows, replacedRows } = loaded;
    assert.deepEqual([kept, stagedRows, replacedRows, duplicatesIn(loaded)], [4, 6, 2, 0]);
  }
});

test("a large pool is worked on in ranges of its own key", async (t) => {
  await using at = await Setting.in(t);
  const select =
    "SELECT 'f' || (i * 7919 % 60000) AS file_id, 'n' AS name, NULL::TIMESTAMPTZ AS updated_at FROM range(120000) r(i)";
  const loaded = await at.load(FILES, [await stagePart(at.part(1), select)]);
  assert.deepEqual([loaded.rows, loaded.files.length], [60_000, 3]);
  const unsorted =
    "SELECT count(*) FROM (SELECT file_id, lag(file_id) OVER (ORDER BY rowid) AS before FROM files) WHERE before >= file_id";
  assert.equal(await scalar(at.connection, unsorted), 0);
});

const DERIVED = { ...TAGS, name: "derived_tags", stage: "derived" } as const;

test("a table that SQL filled is exported sorted, by range; waiting rows are written beside it", {
  timeout: 60_000,
}, async (t) => {
  await using at = await Setting.in(t);
  for (const each of [TAGS, DERIVED]) {
    await createTable(at.connection, each);
    await execute(
      at.connection,
      `INSERT INTO ${each.name} VALUES ('z', 0, 'x'), ('a', 1, NULL), ('a', 0, 'y')`,
    );
  }
  const waiting = (name: string) =>
    scalar(at.connection, `SELECT count(*) FROM pragma_storage_info('${name}') WHERE NOT persistent`);
  assert.ok((await waiting("content_tags")) > 0);
  const lanes: DatabaseConnections = [at.connection, await at.database.connect()];
  const wanted = { tables: [DERIVED], bounds: ["a", "m"], ...at.files };
  const [exported] = await exportTables(lanes, {
    ...wanted,
    beside: async (connection) => {
      const first = join(at.files.finalDirectory, "parquet/derived_tags/derived_tags-000042-0000.parquet");
      assert.ok(!existsSync(first), "begun before the files");
      // The other connection writes meanwhile.
      await until("there is a file", () => existsSync(first), { everyMs: 1 });
      await checkpoint(connection);
    },
  });
  assert.ok(exported);
  assert.deepEqual(rowsOfFiles(exported), { "0000": 2, "0001": 1 });
  assert.deepEqual(await at.rows(exported), [tag("a", 0, "y"), tag("a", 1, null), tag("z", 0, "x")]);
  assert.deepEqual([await waiting("content_tags"), await waiting("derived_tags")], [0, 0]);
  const failing = async () => {
    throw new Error("the disk is full");
  };
  await assert.rejects(exportTables(lanes, { ...wanted, sequence: 8, beside: failing }), /the disk is full/);
});

test("the bodies of items are compressed as articles", async (t) => {
  await using at = await Setting.in(t);
  const content = table(
    "content",
    "item",
    ["content_id"],
    [column("content_id", "text"), column("content", "text")],
  );
  const body = "repeat(md5(CAST(i AS VARCHAR)), 40)";
  const rows = `SELECT printf('%05d', i) AS content_id, ${body} AS content FROM range(2200) t(i)`;
  await at.load(content, [await stagePart(at.part(1), rows)]);
  await checkpoint(at.connection);
  const compressed = await all(
    at.connection,
    `SELECT DISTINCT column_name, compression FROM pragma_storage_info('content')
     WHERE segment_type = 'VARCHAR' ORDER BY ALL`,
  );
  const found = compressed.map((row) => `${row.column_name} ${row.compression}`);
  assert.deepEqual(found, ["content ZSTD", "content_id DICT_FSST"]);
  assert.equal(await scalar(at.connection, `SELECT count(*) FROM (FROM content EXCEPT ${rows})`), 0);
});

test("S14: only a plain table name becomes a file name", async (t) => {
  await using at = await Setting.in(t);
  for (const name of ["../../x", "a/b", ".", "CON", "x".repeat(300)])
    await assert.rejects(at.load({ ...TAGS, name }, []), { code: "config.invalid" });
});

test("texts are ordered alike by compareUtf8, by DuckDB and by their bytes", async (t) => {
  await using at = await Setting.in(t);
  const text = fc.string({ unit: "binary", maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 20 }), async (texts) => {
      const mine = texts.toSorted(compareUtf8);
      const bytes = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.deepEqual(mine, bytes);
      const values = texts.map((_, index) => `($${index + 1}::VARCHAR)`);
      const rows = await all(
        at.connection,
        `SELECT v, v < $1 AS below FROM (VALUES ${values}) r(v) ORDER BY v`,
        texts,
      );
      assert.deepEqual(
        rows.map((row) => [row.v, row.below]),
        mine.map((each) => [each, compareUtf8(each, texts[0] ?? "") < 0]),
      );
    }),
    { numRuns: either(25, 100) },
  );
});

test("any rows in any parts and ranges come out complete and in order", async (t) => {
  const id = fc.constantFrom("a", "B", "é", "\uffee", "😀", "z'", "", "m", "aa", "K");
  const rows = fc.uniqueArray(fc.tuple(id, fc.nat(3)), { selector: ([a, b]) => `${a}|${b}`, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(rows, fc.uniqueArray(id, { maxLength: 4 }), fc.nat(3), async (keys, bounds, split) => {
      await using at = await Setting.in(t);
      const tags = keys.map(([key, ordinal]) => tag(key, ordinal));
      const loaded = await at.loadTags(
        [tags.slice(0, split), tags.slice(split)],
        bounds.toSorted(compareUtf8),
      );
      assert.deepEqual(await at.tags(), inKeyOrder(tags));
      assert.deepEqual(await at.rows(loaded), inKeyOrder(tags));
    }),
    { numRuns: either(4, 15) },
  );
});
