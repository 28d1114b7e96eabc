/** ID ranges that files keep from run to run. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { DuckDBConnection } from "@duckdb/node-api";
import { exportTables } from "../../src/load/load-table.ts";
import { readFileBounds } from "../../src/load/range-bounds.ts";
import { createTable } from "../../src/storage/ddl.ts";
import { execute } from "../../src/storage/duckdb.ts";
import { rangesOf } from "../../src/storage/id-ranges.ts";
import { many } from "../long.ts";
import fc from "../properties.ts";
import { build, TAGS, temporaryFolder } from "./fixtures.ts";

const ROWS_PER_RANGE = 10;
const DERIVED = { ...TAGS, stage: "derived" } as const;

/** Texts of an item's rows, by its ID. */
type Items = ReadonlyMap<string, readonly string[]>;

const id = fc.nat(300).map((number) => `c-${String(number).padStart(3, "0")}`);
const rows = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 });
const items = fc.array(fc.tuple(id, rows), { minLength: 30, maxLength: 60 }).map((all) => new Map(all));
/** An item without rows is gone. */
const edits = fc.oneof(
  fc.array(fc.tuple(id, rows), { maxLength: 3 }),
  fc.array(fc.tuple(id, rows), { minLength: 60, maxLength: 120 }),
);

interface ExportedNight {
  readonly directory: string;
  readonly manifest: Parameters<typeof readFileBounds>[0]["manifest"];
  readonly items: Items;
}

/** The table of these items as a run exports it, with the ranges of the night before. */
async function exported(
  connection: DuckDBConnection,
  { items: given, directory, before }: { items: Items; directory: string; before: ExportedNight | undefined },
): Promise<ExportedNight> {
  await execute(connection, `TRUNCATE ${DERIVED.name}`);
  const values = [...given].flatMap(([item, texts]) =>
    texts.map((text, at) => `('${item}', ${at}, '${text}')`),
  );
  if (values.length > 0) await execute(connection, `INSERT INTO ${DERIVED.name} VALUES ${values.join(", ")}`);
  const held = before === undefined ? new Map() : await readFileBounds(before, [DERIVED], directory);
  const [loaded] = await exportTables([connection], {
    tables: [DERIVED],
    bounds: ["c-000", "c-100", "c-200"],
    kept: { before: held, rowsPerRange: ROWS_PER_RANGE },
    finalDirectory: directory,
    sequence: 7,
  });
  const files = (loaded?.files ?? []).map(async ({ path, rows: count }) => {
    const bytes = await readFile(join(directory, path));
    return {
      path,
      rows: count,
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    };
  });
  return {
    directory,
    manifest: { loaders: ["parquet"], rows: {}, files: await Promise.all(files) },
    items: given,
  };
}

/** What the items have in a range. */
function within(all: Items, { lower = "", upper }: { lower: string | undefined; upper: string | undefined }) {
  const found = [...all].filter(
    ([item, texts]) => texts.length > 0 && item >= lower && (upper === undefined || item < upper),
  );
  return found.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

test("whatever rows come, change and go, a file stays as it is where no row of its range differs, and none grows beyond twice its size", async (t) => {
  const folder = await temporaryFolder(t);
  await using database = await build(folder);
  const { connection } = database;
  await createTable(connection, DERIVED);
  let nights = 0;
  await fc.assert(
    fc.asyncProperty(items, fc.array(edits, { minLength: 5, maxLength: 5 }), async (first, script) => {
      let given: Items = first;
      let before: ExportedNight | undefined;
      for (const edited of [[], ...script]) {
        nights += 1;
        given = new Map([...given, ...edited]);
        const directory = join(folder, `night-${nights}`);
        const now = await exported(connection, { items: given, directory, before });
        if (before !== undefined) {
          assert.ok(now.manifest.files.every(({ rows: count }) => (count ?? 0) <= 2 * ROWS_PER_RANGE));
          const bounds = (await readFileBounds(before, [DERIVED], folder)).get(DERIVED.name) ?? [];
          const known = new Set(now.manifest.files.map(({ sha256 }) => sha256));
          for (const [place, range] of rangesOf(bounds).entries()) {
            const isSame =
              JSON.stringify(within(before.items, range)) === JSON.stringify(within(given, range));
            const { rows: count, sha256, path } = before.manifest.files[place] ?? assert.fail();
            // Those of the first night are as large as the fixed bounds make them.
            const isKept = count !== null && count > 0 && count <= 2 * ROWS_PER_RANGE;
            if (isSame && isKept) assert.ok(known.has(sha256), path);
          }
        }
        before = now;
      }
    }),
    { numRuns: many(3, 12) },
  );
});

test("files that cannot be read give no ranges", async (t) => {
  const folder = await temporaryFolder(t);
  await using database = await build(folder);
  await createTable(database.connection, DERIVED);
  const given: Items = new Map([
    ["c-050", ["a"]],
    ["c-150", ["b"]],
  ]);
  const night = await exported(database.connection, {
    items: given,
    directory: join(folder, "night"),
    before: undefined,
  });
  assert.deepEqual([...(await readFileBounds(night, [DERIVED], folder))], [[DERIVED.name, ["", "c-150"]]]);
  await truncate(join(night.directory, night.manifest.files[1]?.path ?? ""), 10);
  await assert.rejects(readFileBounds(night, [DERIVED], folder));
});
