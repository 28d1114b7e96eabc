import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { DuckDBConnection } from "@duckdb/node-api";
import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { compareUtf8 } from "../../src/common/utf8-order.ts";
import { exportTables, type LoadedTable, loadTable } from "../../src/load/load-table.ts";
import { createTable } from "../../src/storage/ddl.ts";
import { all, checkpoint, execute, scalar, toSafeInteger } from "../../src/storage/duckdb.ts";
import type { DatabaseConnections } from "../../src/storage/parallel.ts";
import type { StagedPart } from "../../src/storage/parquet-file.ts";
import { PartWriter } from "../../src/storage/parquet-file.ts";
import { TableBuilder } from "../../src/storage/table-builder.ts";
import { integer, type Table, text } from "../../src/tables/declare.ts";
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

async function tagsIn(connection: DuckDBConnection): Promise<Tag[]> {
  const rows = await all(connection, "SELECT content_id, ordinal, tag FROM content_tags");
  return rows.map((row) => ({
    content_id: String(row.content_id),
    ordinal: toSafeInteger(row.ordinal ?? null),
    tag: row.tag === null ? null : String(row.tag),
  }));
}

async function readFinal(folder: string, loaded: LoadedTable): Promise<Record<string, unknown>[]> {
  return (await Promise.all(loaded.files.map(({ path }) => readRows(join(folder, path))))).flat();
}

async function readRows(path: string): Promise<Record<string, unknown>[]> {
  const file = new Uint8Array(await readFile(path)).buffer;
  return await parquetReadObjects({ file, compressors });
}

interface Setting {
  readonly folder: string;
  readonly result: string;
  readonly part: (name: string) => string;
}

async function setting(t: TestContext): Promise<Setting> {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, "parts"));
  return { folder, result: join(folder, "result"), part: (name) => join(folder, "parts", `${name}.parquet`) };
}

const request = (of: Table, parts: readonly StagedPart[], bounds: readonly string[], result: string) => ({
  table: of,
  parts,
  bounds,
  finalDirectory: result,
  sequence: 42,
});

test("parts that overlap several buckets come out sorted, bucket by bucket, the same in DuckDB and in Parquet", async (t) => {
  const { folder, result, part } = await setting(t);
  await using database = await build(folder);
  const parts = [
    await stageTags(part("1"), [tag("m", 1), tag("a"), tag("z"), tag("m", 0)]),
    await stageTags(part("2"), [tag("n"), tag("b", 0, null), tag("lower"), tag("é")]),
    await stageTags(part("3"), []),
  ];
  const loaded = await loadTable(database.connection, request(TAGS, parts, ["a", "m", "x"], result));
  const expected = inKeyOrder([
    ...[tag("m", 1), tag("a"), tag("z"), tag("m", 0)],
    ...[tag("n"), tag("b", 0, null), tag("lower"), tag("é")],
  ]);
  assert.deepEqual(loaded, {
    table: "content_tags",
    rows: 8,
    stagedRows: 8,
    replacedRows: 0,
    duplicateKeys: 0,
    files: [
      { path: "parquet/content_tags/content_tags-000042-0000.parquet", rows: 3 },
      { path: "parquet/content_tags/content_tags-000042-0001.parquet", rows: 3 },
      { path: "parquet/content_tags/content_tags-000042-0002.parquet", rows: 2 },
    ],
  });
  assert.deepEqual(await tagsIn(database.connection), expected);
  assert.deepEqual(await readFinal(result, loaded), expected);
  await database.close();
  assert.equal(existsSync(join(folder, "warehouse.duckdb.wal")), false);
});

for (const parts of ["no parts", "an empty part"] as const) {
  test(`a table with ${parts} has one Parquet file with its columns`, async (t) => {
    const { folder, result, part } = await setting(t);
    await using database = await build(folder);
    const staged = parts === "no parts" ? [] : [await stageTags(part("1"), [])];
    const loaded = await loadTable(database.connection, request(TAGS, staged, ["a", "b"], result));
    assert.deepEqual(loaded.files, [
      { path: "parquet/content_tags/content_tags-000042-0000.parquet", rows: 0 },
    ]);
    const bytes = await readFile(join(result, loaded.files[0]?.path ?? ""));
    const { schema } = await parquetMetadataAsync(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    );
    assert.deepEqual(
      schema.slice(1).map(({ name, type }) => [name, type]),
      [
        ["content_id", "BYTE_ARRAY"],
        ["ordinal", "INT32"],
        ["tag", "BYTE_ARRAY"],
      ],
    );
    assert.deepEqual(await tagsIn(database.connection), []);
  });
}

/** Parts, bounds of buckets, and rows by the number of the file that has them. */
const BUCKETS: readonly (readonly [
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

for (const [what, tags, bounds, files, duplicateKeys = 0] of BUCKETS) {
  test(`buckets have ${what}`, async (t) => {
    const { folder, result, part } = await setting(t);
    await using database = await build(folder);
    const parts = await Promise.all(tags.map((each, place) => stageTags(part(String(place)), each)));
    const loaded = await loadTable(database.connection, request(TAGS, parts, bounds, result));
    assert.deepEqual(
      loaded.files.map(({ path, rows }) => [path.slice(-12, -8), rows]),
      Object.entries(files),
    );
    assert.equal(loaded.duplicateKeys, duplicateKeys);
    assert.deepEqual(await tagsIn(database.connection), inKeyOrder(tags.flat()));
  });
}

test("I4: a part with other rows or other keys than it says fails the run", async (t) => {
  for (const [wrong, message] of [
    [{ rows: 3 }, /content_tags should have 3 rows, but 2 were written/],
    [{ lastKey: "b" }, /content_tags/],
  ] as const) {
    const { folder, result, part } = await setting(t);
    await using database = await build(folder);
    const staged = { ...(await stageTags(part("1"), [tag("a"), tag("z")])), ...wrong };
    await assert.rejects(loadTable(database.connection, request(TAGS, [staged], ["a", "m"], result)), {
      code: "verify.failed",
      message,
    });
  }
});

test("a value that a column does not allow fails the run without showing the value", async (t) => {
  const { folder, result, part } = await setting(t);
  await using database = await build(folder);
  const select = "SELECT 'a' AS content_id, NULL::INTEGER AS ordinal, 'canary@example.org' AS tag";
  const parts = [await stagePart(part("1"), select)];
  await assert.rejects(loadTable(database.connection, request(TAGS, parts, [], result)), (error: Error) => {
    assert.match(error.message, /Constraint Error/);
    assert.doesNotMatch(error.message, /canary/);
    return true;
  });
});

test("every column type arrives in DuckDB and in Parquet as it was staged", async (t) => {
  const { folder, result, part } = await setting(t);
  await using database = await build(folder);
  const select = `SELECT * FROM (VALUES
    ('a', true, 2147483647, 9007199254740993, 0.1, TIMESTAMPTZ '2026-03-01 09:30:12.123456+00', DATE '2026-03-01', '{"n":12345678901234567890}'),
    ('b', false, -1, -9223372036854775807, 1e300, TIMESTAMPTZ '1969-12-31 23:59:59.999+00', DATE '1970-01-01', 'null'),
    ('c', NULL, NULL, NULL, NULL, NULL, NULL, NULL)
  ) r(id, "boolean", "integer", "bigint", "double", "timestamp", "date", "json")`;
  const parts = [await stagePart(part("1"), select)];
  const loaded = await loadTable(database.connection, request(TYPES, parts, [], result));
  const types = await all(
    database.connection,
    "SELECT column_name, data_type, is_nullable FROM duckdb_columns() WHERE table_name = 'types' ORDER BY column_index",
  );
  assert.deepEqual(
    types.map((row) => [row.column_name, row.data_type, row.is_nullable]),
    [
      ["id", "VARCHAR", false],
      ["boolean", "BOOLEAN", true],
      ["integer", "INTEGER", true],
      ["bigint", "BIGINT", true],
      ["double", "DOUBLE", true],
      ["timestamp", "TIMESTAMP WITH TIME ZONE", true],
      ["date", "DATE", true],
      ["json", "JSON", true],
    ],
  );
  const other = `SELECT count(*) FROM (FROM (${select}) EXCEPT FROM types)`;
  assert.deepEqual([loaded.rows, await scalar(database.connection, other)], [3, 0]);
  // By another reader; that of instants is exact to the millisecond.
  assert.deepEqual(await readFinal(result, loaded), await readRows(part("1")));
});

test("parts are read by ranges of keys of any script", async (t) => {
  const { folder, result, part } = await setting(t);
  await using database = await build(folder);
  const ids = ["a", "é", "\uffee", "😀", "z", "\u{10ffff}"].flatMap((id) => [id, `${id.repeat(40)}!`]);
  const builder = new TableBuilder({
    columns: [
      text("content_id", { comment: "Item." }),
      integer("ordinal", { comment: "Place." }),
      text("tag", { comment: "Tag." }),
    ],
  });
  for (const id of ids) builder.append([id, 0, id]);
  const file = part("1");
  builder.take((rows) => new PartWriter().write(file, rows));
  const sorted = ids.toSorted(compareUtf8);
  const staged = {
    file,
    rows: ids.length,
    firstKey: sorted[0] ?? "",
    lastKey: sorted.at(-1) ?? "",
  };
  const loaded = await loadTable(database.connection, request(TAGS, [staged], sorted, result));
  assert.equal(loaded.files.length, ids.length);
  assert.deepEqual(
    (await tagsIn(database.connection)).map((row) => row.content_id),
    sorted,
  );
});

test("tables and columns carry their comments, and Parquet files carry them too", async (t) => {
  const { folder, result } = await setting(t);
  await using database = await build(folder);
  const loaded = await loadTable(database.connection, request(TAGS, [], [], result));
  const tables = await all(database.connection, "SELECT comment FROM duckdb_tables()");
  assert.deepEqual(
    tables.map((row) => row.comment),
    [TAGS.comment],
  );
  const columns = await all(database.connection, "SELECT comment FROM duckdb_columns() WHERE NOT internal");
  assert.deepEqual(
    columns.map((row) => row.comment),
    TAGS.columns.map((each) => each.comment),
  );
  const bytes = await readFile(join(result, loaded.files[0]?.path ?? ""));
  const metadata = await parquetMetadataAsync(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
  );
  const entries = new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value]));
  assert.equal(entries.get("table"), "content_tags");
  assert.equal(entries.get("comment"), TAGS.comment);
  assert.equal(entries.get("key"), "content_id,ordinal");
  assert.equal(JSON.parse(entries.get("columns") ?? "").tag, TAGS.columns[2]?.comment);
});

test("the same rows give the same Parquet bytes, however they were staged", async (t) => {
  const rows = Array.from({ length: 5_000 }, (_, index) =>
    tag(`id-${(index * 7919) % 1009}`, index, `tag ${index % 37}`),
  );
  const digests: Buffer[][] = [];
  for (const cuts of [
    [0, 5_000],
    [0, 1, 1_700, 3_000, 5_000],
  ]) {
    const { folder, result, part } = await setting(t);
    await using database = await build(folder);
    const parts: StagedPart[] = [];
    for (const [index, start] of cuts.slice(0, -1).entries()) {
      parts.unshift(await stageTags(part(String(index)), rows.slice(start, cuts[index + 1])));
    }
    const loaded = await loadTable(database.connection, request(TAGS, parts, ["id-0", "id-5"], result));
    digests.push(await Promise.all(loaded.files.map(({ path }) => readFile(join(result, path)))));
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
  const { folder, result, part } = await setting(t);
  await using database = await build(folder);
  const parts = [
    await stagePart(
      part("1"),
      fileRows("('f', 'old', '2026-01-01'), ('g', 'new', '2026-02-01'), ('h', 'b', NULL)"),
    ),
    await stagePart(part("2"), fileRows("('g', 'old', '2026-01-01'), ('h', 'a', NULL), ('e', 'only', NULL)")),
  ];
  for (const order of [parts, parts.toReversed()]) {
    await database.connection.run("DROP TABLE IF EXISTS files");
    const loaded = await loadTable(database.connection, request(FILES, order, ["z"], result));
    const rows = await all(database.connection, "SELECT file_id, name FROM files");
    assert.deepEqual(
      rows.map((row) => [row.file_id, row.name]),
      [
        ["e", "only"],
        ["f", "old"],
        ["g", "new"],
        ["h", "a"],
      ],
    );
    assert.deepEqual(
      [loaded.rows, loaded.stagedRows, loaded.replacedRows, loaded.duplicateKeys],
      [4, 6, 2, 0],
    );
  }
});

test("a large pool is worked on in ranges of its own key", async (t) => {
  const { folder, result, part } = await setting(t);
  await using database = await build(folder);
  const select =
    "SELECT 'f' || (i * 7919 % 60000) AS file_id, 'n' AS name, NULL::TIMESTAMPTZ AS updated_at FROM range(120000) r(i)";
  const parts = [await stagePart(part("1"), select)];
  const loaded = await loadTable(database.connection, request(FILES, parts, [], result));
  assert.equal(loaded.rows, 60_000);
  assert.equal(loaded.files.length, 3);
  const unsorted = await all(
    database.connection,
    "SELECT count(*) AS n FROM (SELECT file_id, lag(file_id) OVER (ORDER BY rowid) AS before FROM files) WHERE before >= file_id",
  );
  assert.equal(unsorted[0]?.n, 0n);
});

test("a table that SQL filled is exported sorted, per bucket", async (t) => {
  const { folder, result } = await setting(t);
  await using database = await build(folder);
  const derived = { ...TAGS, name: "derived_tags", stage: "derived" } as const;
  await createTable(database.connection, derived);
  await database.connection.run(
    "INSERT INTO derived_tags VALUES ('z', 0, 'x'), ('a', 1, NULL), ('a', 0, 'y')",
  );
  const lanes: DatabaseConnections = [database.connection, await database.connect()];
  const [exported] = await exportTables(lanes, {
    tables: [derived],
    bounds: ["a", "m"],
    finalDirectory: result,
    sequence: 7,
  });
  assert.ok(exported);
  assert.deepEqual(exported.files, [
    { path: "parquet/derived_tags/derived_tags-000007-0000.parquet", rows: 2 },
    { path: "parquet/derived_tags/derived_tags-000007-0001.parquet", rows: 1 },
  ]);
  assert.deepEqual(await readFinal(result, exported), [
    tag("a", 0, "y"),
    tag("a", 1, null),
    tag("z", 0, "x"),
  ]);
});

test("rows that wait, of any table, are written beside the files, and a failure there ends the export", {
  timeout: 60_000,
}, async (t) => {
  const { folder, result } = await setting(t);
  await using database = await build(folder);
  const derived = { ...TAGS, name: "derived_tags", stage: "derived" } as const;
  for (const each of [TAGS, derived]) await createTable(database.connection, each);
  for (const name of ["content_tags", "derived_tags"]) {
    await execute(database.connection, `INSERT INTO ${name} VALUES ('a', 0, 'x'), ('z', 0, 'y')`);
  }
  const waiting = (name: string) =>
    scalar(database.connection, `SELECT count(*) FROM pragma_storage_info('${name}') WHERE NOT persistent`);
  assert.ok((await waiting("content_tags")) > 0);
  const lanes: DatabaseConnections = [database.connection, await database.connect()];
  const wanted = { tables: [derived], bounds: ["b", "m"], finalDirectory: result, sequence: 7 };
  const [exported] = await exportTables(lanes, {
    ...wanted,
    beside: async (connection) => {
      const first = join(result, "parquet/derived_tags/derived_tags-000007-0000.parquet");
      assert.ok(!existsSync(first), "begun before the files");
      // The other connection writes meanwhile.
      await until("there is a file", () => existsSync(first), { everyMs: 1 });
      await checkpoint(connection);
    },
  });
  assert.ok(exported);
  assert.deepEqual(await readFinal(result, exported), [tag("a", 0, "x"), tag("z", 0, "y")]);
  assert.equal(await waiting("content_tags"), 0);
  assert.equal(await waiting("derived_tags"), 0);
  const failing = async () => {
    throw new Error("the disk is full");
  };
  await assert.rejects(exportTables(lanes, { ...wanted, sequence: 8, beside: failing }), /the disk is full/);
});

/** Each column of texts of a table, with each way in which it is compressed. */
async function compressionOf(connection: DuckDBConnection, table: string): Promise<string[][]> {
  await checkpoint(connection);
  const rows = await all(
    connection,
    `SELECT DISTINCT column_name, compression FROM pragma_storage_info('${table}')
     WHERE segment_type = 'VARCHAR' ORDER BY ALL`,
  );
  return rows.map((row) => [String(row.column_name), String(row.compression)]);
}

/** Texts by the number of their row, and how many rows there are. */
const LONG_TEXTS = {
  "a few of them are very long": [
    "lpad(CAST(i AS VARCHAR), CASE i % 500 WHEN 0 THEN 9000 ELSE 700 END, md5(CAST(i AS VARCHAR)))",
    3000,
  ],
  "those of the first items are not": [
    "CASE WHEN i < 2000 THEN 'short' ELSE repeat(md5(CAST(i AS VARCHAR)), 40) END",
    2200,
  ],
} as const;

for (const [what, [text, count]] of Object.entries(LONG_TEXTS)) {
  test(`texts that are long on average are compressed as articles, though ${what}`, async (t) => {
    const { folder, result, part } = await setting(t);
    await using database = await build(folder);
    const rows = `SELECT printf('%05d', i) AS content_id, 0 AS ordinal, ${text} AS tag FROM range(${count}) t(i)`;
    const staged = await stagePart(part("1"), rows);
    await loadTable(database.connection, request(TAGS, [staged], ["00000", "02000"], result));
    assert.deepEqual(await compressionOf(database.connection, "content_tags"), [
      ["content_id", "DICT_FSST"],
      ["tag", "ZSTD"],
    ]);
    const differing = `SELECT count(*) FROM (FROM content_tags EXCEPT ${rows})`;
    assert.equal(await scalar(database.connection, differing), 0);
  });
}

test("S14: only a plain table name becomes a file name", async (t) => {
  const { folder, result } = await setting(t);
  await using database = await build(folder);
  for (const name of ["../../x", "a/b", ".", "CON", "x".repeat(300)]) {
    await assert.rejects(loadTable(database.connection, request({ ...TAGS, name }, [], [], result)), {
      code: "config.invalid",
    });
  }
});

test("texts are ordered alike by compareUtf8, by DuckDB and by their bytes", async (t) => {
  const folder = await temporaryFolder(t);
  await using database = await build(folder);
  const text = fc.string({ unit: "binary", maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 20 }), async (texts) => {
      const mine = texts.toSorted(compareUtf8);
      assert.deepEqual(
        mine,
        texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
      const values = texts.map((_, index) => `($${index + 1}::VARCHAR)`);
      if (values.length === 0) return;
      const sorted = await all(
        database.connection,
        `SELECT v FROM (VALUES ${values}) r(v) ORDER BY v`,
        texts,
      );
      assert.deepEqual(
        sorted.map((row) => row.v),
        mine,
      );
      const below = await all(
        database.connection,
        `SELECT count(*) AS n FROM (VALUES ${values}) r(v) WHERE v < $1`,
        texts,
      );
      assert.equal(below[0]?.n, BigInt(texts.filter((each) => compareUtf8(each, texts[0] ?? "") < 0).length));
    }),
    { numRuns: either(25, 100) },
  );
});

test("any rows in any parts and buckets come out complete and in order", async (t) => {
  const id = fc.constantFrom("a", "B", "é", "\uffee", "😀", "z'", "", "\u0000", "m", "aa", "K");
  const rows = fc.uniqueArray(fc.tuple(id, fc.nat(3)), { selector: ([a, b]) => `${a}|${b}`, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(rows, fc.uniqueArray(id, { maxLength: 4 }), fc.nat(3), async (keys, bounds, split) => {
      const { folder, result, part } = await setting(t);
      await using database = await build(folder);
      const tags = keys.filter(([key]) => key !== "\u0000").map(([key, ordinal]) => tag(key, ordinal));
      const parts = [
        await stageTags(part("1"), tags.slice(0, split)),
        await stageTags(part("2"), tags.slice(split)),
      ];
      const sorted = bounds.toSorted(compareUtf8);
      const loaded = await loadTable(database.connection, request(TAGS, parts, sorted, result));
      assert.deepEqual(await tagsIn(database.connection), inKeyOrder(tags));
      assert.deepEqual(await readFinal(result, loaded), inKeyOrder(tags));
    }),
    { numRuns: either(4, 15) },
  );
});
