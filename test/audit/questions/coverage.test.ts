import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DestinationCounts,
  mappedCounts,
  readDestinationCounts,
  receivingDestinations,
  sumCounts,
} from "../../../src/audit/mapping/value-counts.ts";
import type { OpenedRun } from "../../../src/audit/open-run.ts";
import {
  type Coverage,
  type CoverageFilter,
  coverageSections,
  readCoverage,
} from "../../../src/audit/questions/coverage.ts";
import { resolveScope } from "../../../src/audit/scope.ts";
import { all, execute, type QueryRow } from "../../../src/storage/duckdb.ts";
import { opened, sampleWarehouse } from "../sample.ts";

const ALL: CoverageFilter = {};

const out = await sampleWarehouse();

/** Numbers of a row as numbers, so that they can be compared. */
function plain(rows: readonly QueryRow[]): Record<string, unknown>[] {
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]),
    ),
  );
}

/** What one query over the whole mapped values says; `where` keeps to some rows. */
async function straightforward({ connection }: OpenedRun, where: string): Promise<Record<string, unknown>[]> {
  return plain(
    await all(
      connection,
      `SELECT destination_id, custom_field_id, count(*) AS values,
         count(external_value) FILTER (external_field_name IS NOT NULL) AS mapped,
         count(*) FILTER (status = 'mapped') - mapped AS empty,
         count(*) FILTER (status = 'unmapped') AS unmapped,
         count(*) FILTER (status = 'unknown_value') AS unknown_value,
         count(*) FILTER (status = 'no_value_mapping') AS no_value_mapping,
         count(*) FILTER (value_archived) AS archived, count(*) FILTER (ambiguous) AS ambiguous,
         count(*) FILTER (matched_by_text) AS matched_by_text, count(*) FILTER (collision) AS collision
       FROM content_mapped_values WHERE ${where} GROUP BY ALL ORDER BY ALL`,
    ),
  );
}

function counts({ coverage }: Coverage): Record<string, unknown>[] {
  const kept = plain(coverage).filter(({ values }) => values !== 0);
  return kept
    .map(
      ({
        destination,
        reception,
        custom_field,
        field_type,
        external_field_name,
        entries,
        entries_unused,
        ...row
      }) => row,
    )
    .sort((a, b) =>
      `${a.destination_id} ${a.custom_field_id}` < `${b.destination_id} ${b.custom_field_id}` ? -1 : 1,
    );
}

test("each filter keeps to its rows, and they hold together", async () => {
  await using run = await opened(out);
  const scope = await resolveScope(run.connection, { destination: "Web CMS", field: "region" });
  const article = await resolveScope(run.connection, { contentType: "Article" });
  const ofArticles =
    "content_id IN (SELECT content_id FROM content JOIN content_types USING (content_type_id) WHERE display_name = 'Article')";
  const webRegion =
    "destination_id = (SELECT destination_id FROM destinations WHERE identification = 'Web CMS') AND custom_field_id = (SELECT custom_field_id FROM custom_fields WHERE name = 'region')";
  for (const [filter, where] of [
    [ALL, "true"],
    [{ ...ALL, ...scope }, webRegion],
    [{ ...ALL, ...article }, ofArticles],
    [{ ...ALL, status: "unmapped" }, "status = 'unmapped'"],
    [{ ...ALL, value: "nordic" }, "external_value = 'nordic'"],
    [{ ...ALL, value: "Nordics" }, "value = 'Nordics'"],
    // Of a field without a value mapping.
    [{ ...ALL, value: "Read the guide" }, "value = 'Read the guide'"],
    [
      { ...ALL, ...scope, value: "Nordics", status: "mapped" },
      `${webRegion} AND value = 'Nordics' AND status = 'mapped'`,
    ],
  ] as const) {
    const expected = await straightforward(run, where);
    assert.ok(expected.length > 0, where);
    // One range of items at a time where no filter is, or all meet.
    const rowsPerRange = where === "true" ? 700 : filter.status === "mapped" ? 1000 : undefined;
    assert.deepEqual(counts(await readCoverage(run.connection, filter, rowsPerRange)), expected, where);
  }
  assert.equal((await readCoverage(run.connection, { ...ALL, status: "unmapped" })).definitions, undefined);
  const season = await resolveScope(run.connection, { field: "season" });
  assert.equal(season.fieldIds?.length, 2, "fields that share a name are all meant");
});

test("an entry that items of another content type use is used", async () => {
  await using run = await opened(out);
  const unusedBy = async (filter: CoverageFilter) => {
    const { coverage, definitions } = await readCoverage(run.connection, filter);
    const counted = coverage.map((row) => [row.destination_id, row.custom_field_id, row.entries_unused]);
    return { counted, entries: definitions?.find(({ key }) => key === "unused_entries")?.rows };
  };
  const articles = await resolveScope(run.connection, { contentType: "Article" });
  assert.deepEqual(await unusedBy({ ...ALL, ...articles }), await unusedBy(ALL));
});

/** Disagreements about whether a destination receives values: a row of each table that has the column. */
const MISSTATED = `
  SELECT coalesce(supports_custom_field_mappings, true) AS expected, receives FROM destinations
  UNION ALL SELECT d.receives, m.receives FROM content_mapped_values m JOIN destinations d USING (destination_id)
  UNION ALL SELECT d.receives, p.receives FROM content_external_payloads p JOIN destinations d USING (destination_id)
  UNION ALL SELECT d.receives, w.receives FROM published.content_mapped_wide w JOIN destinations d USING (destination_id)
  UNION ALL SELECT d.receives, c.receives FROM published.mapping_coverage c JOIN destinations d USING (destination_id)
  UNION ALL SELECT d.receives, i.receives FROM published.mapped_value_intervals i JOIN destinations d USING (destination_id)`;

test("H18: each table says alike which destinations receive values, and rows of these come first", async () => {
  await using run = await opened(out);
  const counts = `SELECT count(*)::INTEGER AS rows, count(DISTINCT receives)::INTEGER AS kinds,
    count_if(expected IS DISTINCT FROM receives)::INTEGER AS wrong FROM (${MISSTATED})`;
  const [{ rows, ...found } = {}] = await all(run.connection, counts);
  assert.ok(Number(rows) > 18_000, String(rows));
  assert.deepEqual(found, { kinds: 2, wrong: 0 });
  for (const { key, rows } of coverageSections(await readCoverage(run.connection, ALL))) {
    const apart = rows.map(({ reception }) => reception !== undefined && reception !== "receiving");
    assert.deepEqual(apart, apart.toSorted(), key);
    if (["coverage", "destinations", "values"].includes(key)) assert.ok(apart.includes(true), key);
  }
});

const BY_RECEPTION = `
  SELECT reception, count(*) FILTER (WHERE status = 'unmapped') AS unmapped,
    count(*) FILTER (WHERE status = 'unknown_value') AS unknown_value
  FROM (
    SELECT *, CASE WHEN supports_custom_field_mappings = false THEN 'unsupported' ELSE 'receiving' END AS reception
    FROM content_mapped_values JOIN destinations USING (destination_id)
  )
  GROUP BY reception ORDER BY reception`;

test("what destinations receive none of is counted apart, in all answers as one query over the tables has it", async () => {
  await using run = await opened(out);
  const expected = (await all(run.connection, BY_RECEPTION)).map((row) => ({
    reception: String(row.reception),
    unmapped: Number(row.unmapped),
    unknown_value: Number(row.unknown_value),
  }));
  assert.deepEqual(expected, [
    { reception: "receiving", unmapped: 654, unknown_value: 8 },
    { reception: "unsupported", unmapped: 171, unknown_value: 2 },
  ]);
  const { destinations, values } = await readCoverage(run.connection, ALL, 1000);
  const ofReception = (some: readonly DestinationCounts[], wanted: string) =>
    sumCounts(some.filter(({ reception }) => reception === wanted));
  for (const counted of [destinations, await readDestinationCounts(run.connection)]) {
    for (const { reception, ...kinds } of expected) {
      const { unmapped, unknown_value } = ofReception(counted, reception);
      assert.deepEqual({ unmapped, unknown_value }, kinds, reception);
    }
  }
  const uses = (wanted: string) =>
    values.reduce((sum, { status, uses }) => sum + (status === wanted ? uses : 0), 0);
  const { unmapped, unknown_value } = sumCounts(destinations);
  assert.deepEqual([uses("unmapped"), uses("unknown_value")], [unmapped, unknown_value]);
  assert.deepEqual(run.manifest.mappedValues, mappedCounts(await readDestinationCounts(run.connection)));
});

test("to name a destination lowers no count and no gate, unless the service then says that it supports no mappings", async () => {
  await using run = await opened(out);
  const countsWith = async (supports: string) => {
    const receives = `coalesce(${supports}, true)`;
    await execute(
      run.connection,
      `CREATE OR REPLACE TEMP TABLE destinations AS SELECT destination_id, ${supports} AS supports_custom_field_mappings,
         ${receives} AS receives, ${supports === "NULL" ? "NULL" : "identification"} AS identification
       FROM main.destinations`,
    );
    return sumCounts(receivingDestinations(await readDestinationCounts(run.connection)));
  };
  const nameless = await countsWith("NULL");
  assert.equal(nameless.unmapped + nameless.unknown_value, 835);
  assert.deepEqual(await countsWith("true"), nameless);
  assert.deepEqual(await countsWith("main.destinations.supports_custom_field_mappings"), {
    ...nameless,
    ...(await all(run.connection, RECEIVED))[0],
  });
});

const RECEIVED = `
  SELECT count_if(status = 'mapped')::DOUBLE AS mapped, count_if(status = 'unmapped')::DOUBLE AS unmapped,
    count_if(status = 'unknown_value')::DOUBLE AS unknown_value, count_if(ambiguous)::DOUBLE AS ambiguous,
    count_if(collision)::DOUBLE AS collision
  FROM content_mapped_values JOIN main.destinations USING (destination_id)
  WHERE supports_custom_field_mappings IS DISTINCT FROM false`;

test("unused entries, unmapped fields, external values of several values and shared names are facts of the run", async () => {
  await using run = await opened(out);
  const { definitions } = await readCoverage(run.connection, ALL, 1000);
  const rows = (wanted: string) => definitions?.find(({ key }) => key === wanted)?.rows ?? [];
  const names = async (sql: string) =>
    (await all(run.connection, sql)).map((row) => String(Object.values(row)[0]));
  assert.deepEqual(
    rows("unused_entries")
      .map((row) => row.mapping_value_id)
      .sort(),
    await names(
      `SELECT mapping_value_id FROM custom_field_mapping_values WHERE mapping_value_id NOT IN
         (SELECT mapping_value_id FROM content_mapped_values WHERE mapping_value_id IS NOT NULL) ORDER BY ALL`,
    ),
  );
  assert.deepEqual(
    new Set(rows("unused_entries").map((row) => row.reason)),
    new Set([
      "no item has the value, which is archived",
      "an earlier entry for the value counts",
      "an earlier mapping of the field for the destination counts",
    ]),
  );
  assert.deepEqual(
    rows("collisions").map((row) => [row.destination, row.external_field_name, row.custom_fields]),
    [["Web CMS", "market", "launch_market, region"]],
  );
});
