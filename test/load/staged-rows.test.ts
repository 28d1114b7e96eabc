import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { stagedRanges } from "../../src/load/staged-rows.ts";
import { all } from "../../src/storage/duckdb.ts";
import { rangesOf } from "../../src/storage/id-ranges.ts";
import type { StagedPart } from "../../src/storage/parquet-file.ts";
import { build, stagePart, TAGS, temporaryFolder } from "./fixtures.ts";

const ITEMS = 400;
const RANGES = 40;
const PARTS = 5;

const idOf = (item: number): string => `item-${String(item).padStart(4, "0")}`;
const bounds = Array.from({ length: RANGES }, (_, range) => idOf((range * ITEMS) / RANGES));

/** Parts that share out all items; `scattered`: each has items of every range. */
async function partsOf(folder: string, scattered: boolean): Promise<StagedPart[]> {
  const place = scattered ? "(i * 37) % 400" : "i";
  const rows = `SELECT format('item-{:04d}', i) AS content_id, 0 AS ordinal, md5(i::VARCHAR) AS tag, ${place} AS place
    FROM range(${ITEMS}) t(i)`;
  const size = ITEMS / PARTS;
  return Promise.all(
    Array.from({ length: PARTS }, (_, part) =>
      stagePart(
        join(folder, `part-${part}.parquet`),
        `SELECT * EXCLUDE place FROM (${rows}) WHERE place >= ${part * size} AND place < ${(part + 1) * size} ORDER BY place`,
      ),
    ),
  );
}

for (const order of ["the order of IDs", "no order of IDs"] as const) {
  test(`parts in ${order}: each range has its rows, and a part is not read for each of them`, async (t) => {
    const folder = await temporaryFolder(t);
    await using database = await build(folder);
    const { connection } = database;
    await mkdir(join(folder, "parts"));
    const parts = await partsOf(join(folder, "parts"), order === "no order of IDs");
    const staged = { table: TAGS, parts };
    const found: string[][] = [];
    let looks = 0;
    for await (const rows of stagedRanges(connection, staged, rangesOf(bounds))) {
      assert.ok(rows !== undefined);
      looks += rows.text.match(/\bpart-\d\.parquet/g)?.length ?? 0;
      const ids = await all(connection, `SELECT content_id FROM (${rows.text}) ORDER BY ALL`, rows.params);
      found.push(ids.map((row) => String(row.content_id)));
    }
    const expected = bounds.map((_, range) =>
      Array.from({ length: ITEMS / RANGES }, (_, place) => idOf((range * ITEMS) / RANGES + place)),
    );
    assert.deepEqual(found, expected);
    // Scattered, they are read where neighbours are gathered, and these ranges read what was gathered.
    assert.ok(looks <= RANGES, `${looks} looks into the parts as they were staged`);
    assert.equal(existsSync(join(folder, "parts", "content_tags-gathered.parquet")), false);
  });
}
