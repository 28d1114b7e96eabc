/** Columns of content_wide for fields that the specification does not know, by the setting `extraColumns`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import { schemaCommand } from "../../src/cli/commands/schema.ts";
import { capture, outcome } from "../cli/capture.ts";
import { MAPPING, rowsOf, scriptedWorld } from "./running.ts";
import { item } from "./scripted.ts";

const NAMES = ["editor_rating", "rating/max~1", "x.y"];
const WIDE = `
  SELECT content_id, extra_editor_rating, "extra_rating/max~1", "extra_x.y" FROM content_wide ORDER BY content_id`;
const TYPES = `
  SELECT column_name, data_type FROM duckdb_columns()
  WHERE table_name = 'content_wide' AND column_name LIKE 'extra\\_%' ESCAPE '\\' ORDER BY column_index`;

test("each field is a column every night: text as it is, other values as JSON, NULL where an item lacks it", async (t) => {
  const { service, out, exported } = await scriptedWorld(t, [
    item("a", 0, { editor_rating: "A+", "rating/max~1": 5, "x.y": { z: [1, null] } }),
    item("b", 1, { editor_rating: null }),
    item("c", 2, { editor_rating: ["A", "B"] }),
  ]);
  const night = () => exported({ pipelineUrl: MAPPING, config: { extraColumns: NAMES } });
  const first = await night();
  const rows = [
    ["a", "A+", "5", '{"z":[1,null]}'],
    ["b", null, null, null],
    ["c", '["A","B"]', null, null],
  ];
  assert.deepEqual(await rowsOf(first.directory, WIDE), rows);
  const types = await rowsOf(first.directory, TYPES);
  assert.deepEqual(
    types,
    NAMES.map((name) => [`extra_${name}`, "VARCHAR"]),
  );
  assert.match(
    (await capture(schemaCommand, ["content_wide", "--warehouse", out])).replaceAll(/\s+/g, " "),
    /setting `extraColumns` adds a column `extra_<name>` .* extra_editor_rating text API field editor_rating, by the setting extraColumns: /,
  );
  assert.equal((await outcome(replayCommand, ["--warehouse", out])).error, undefined);
  assert.deepEqual(await rowsOf(join(out, "current"), WIDE), rows);

  service.items = [item("a", 0, {})];
  const second = await night();
  assert.deepEqual(await rowsOf(second.directory, TYPES), types);
  assert.deepEqual(await rowsOf(second.directory, WIDE), [["a", null, null, null]]);
});
