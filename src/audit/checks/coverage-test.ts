/** The test `mappingCoverage`: what `audit --fail-on` limits, before a run is published. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { CoverageTest } from "../../pipeline.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { WITHOUT_EXTERNAL_VALUE } from "../mapped-value.ts";
import {
  LIMIT_KINDS,
  LIMIT_TEXTS,
  type LimitKind,
  limitedDestinations,
  readDestinationCounts,
  sumCounts,
} from "../mapping/value-counts.ts";
import { examplesIn, failingRows } from "./failing-rows.ts";
import { checkOf, type TestResult, told } from "./test-results.ts";

/** One for each kind that has a limit. */
export async function coverageResults(
  { name, failOn, severity }: CoverageTest,
  { connection }: { readonly connection: DuckDBConnection },
): Promise<TestResult[]> {
  const destinations = limitedDestinations(await readDestinationCounts(connection));
  const totals = sumCounts(destinations);
  const results: TestResult[] = [];
  for (const kind of LIMIT_KINDS) {
    const limit = failOn[kind];
    if (limit === undefined) continue;
    const figure = totals[kind];
    const ids = destinations.map((each) => each.destination_id);
    const rows = figure > 0 ? await failingRows(connection, valuesOf(kind, ids)) : [];
    const found = {
      name: `${name}, ${LIMIT_TEXTS[kind]}`,
      severity,
      limit,
      figure,
      examples: examplesIn(rows),
    };
    const { check, ...result } = told(checkOf(found));
    results.push({ ...result, check: { ...check, reads: ["content_mapped_values"] } });
  }
  return results;
}

/** Rows of a kind at destinations, as they stand after FROM. */
function valuesOf(kind: LimitKind, destinationIds: readonly string[]): string {
  const isStatus = WITHOUT_EXTERNAL_VALUE.some((status) => status === kind);
  const condition = isStatus ? `status = ${quoteLiteral(kind)}` : quoteIdentifier(kind);
  return `(SELECT content_id, destination_id, custom_field_id, value_id, value, status FROM content_mapped_values
    WHERE ${condition} AND destination_id IN (${destinationIds.map(quoteLiteral).join(", ")}))`;
}
