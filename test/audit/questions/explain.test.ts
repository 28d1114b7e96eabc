import assert from "node:assert/strict";
import { chmod, cp, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { readDefinitions } from "../../../src/audit/mapping/definitions.ts";
import { explainAnswer } from "../../../src/audit/questions/explain.ts";
import {
  explainItem,
  type ItemExplanation,
  readItem,
  readReceptions,
} from "../../../src/audit/questions/explain-facts.ts";
import { stepsSection } from "../../../src/audit/questions/explain-steps.ts";
import { findItemId } from "../../../src/audit/questions/find-item.ts";
import type { Answer, Section } from "../../../src/common/answer.ts";
import { all, execute } from "../../../src/storage/duckdb.ts";
import { failsWith } from "../../failing.ts";
import { few } from "../../long.ts";
import { exportFrom, HurriedClock, MAPPING, temporaryFolder } from "../../run/running.ts";
import { item, type Question, Scripted } from "../../run/scripted.ts";
import { opened, sampleWarehouse } from "../sample.ts";

const out = await sampleWarehouse();
const parquet = await sampleWarehouse("parquet");
const ids = await idsOf();
const FIRST = ids[0] ?? "";

async function idsOf(): Promise<string[]> {
  await using run = await opened(out);
  const rows = await all(run.connection, "SELECT content_id FROM content ORDER BY content_id");
  return rows.map(({ content_id }) => String(content_id));
}

/** The values and payload members of the steps of an answer. */
function told({ rows }: Section): string[] {
  return rows.flatMap(({ rule, destination_id: site, custom_field_id: field, input, result }) => {
    if (rule === 7) return `${site} | ${input} = ${result}`;
    return rule === 6
      ? `${site} | ${field} | ${input} | ${/^the entry (\w+)/.exec(String(result))?.[1]}`
      : [];
  });
}

/** The same of the tables, which other tests hold to a second program that makes them. */
function statementsOf({ mappedValues, payloads }: ItemExplanation): string[] {
  return [...Map.groupBy(mappedValues, ({ destinationId }) => destinationId)].flatMap(([site, rows]) => [
    ...rows.map((row) =>
      [site, row.customFieldId, row.valueId, row.mappingValueId ?? undefined].map(String).join(" | "),
    ),
    ...payloads
      .filter(({ destinationId }) => destinationId === site)
      .map(({ name, values: sent }) => `${site} | ${name} = ${JSON.stringify(sent)}`),
  ]);
}

/** Every member of a payload has a row in the answer, and so has every value. */
function assertAnswered({ sections }: Answer, { receptions, ...explanation }: ItemExplanation): void {
  const [sent, values] = sections;
  const isApart = (id: string) => Number(receptions.get(id) !== "receiving");
  const byReception = <R extends { destinationId: string }>(rows: readonly R[]) =>
    rows.toSorted((a, b) => isApart(a.destinationId) - isApart(b.destinationId));
  assert.deepEqual(
    sent?.rows.map((row) => [row.destination_id, row.external_field_name, row.values]),
    byReception(explanation.payloads).map((each) => [each.destinationId, each.name, each.values]),
  );
  assert.deepEqual(
    values?.rows.map((row) => [row.value, row.external_value]),
    byReception(explanation.mappedValues).map(({ value, externalValue }) => [value, externalValue]),
  );
}

test("each statement about each item of the sample is what the tables have", async () => {
  await using run = await opened(out);
  const definitions = await readDefinitions(run.connection);
  const receptions = await readReceptions(run.connection);
  let statements = 0;
  const some = few(ids, 100);
  for (const id of some) {
    const facts = { contentId: id, slug: null, title: null, contentType: null, updatedAt: null };
    const document = undefined;
    const sinceOf = () => undefined;
    const rest = { item: facts, definitions, receptions, passthrough: false, document, sinceOf };
    const explanation = { ...rest, ...(await readItem(run.connection, id)) };
    const expected = statementsOf(explanation);
    assert.deepEqual(told(stepsSection(explanation, {})), expected, id);
    assertAnswered(explainAnswer(run, explanation, { steps: false }), explanation);
    statements += expected.length;
  }
  assert.ok(statements > 20 * some.length, String(statements));
});

test("a run of Parquet files is explained like one with a database", async () => {
  await using run = await opened(out);
  await using other = await opened(parquet);
  const id = ids[7] ?? "";
  const [one, two] = [await explainItem(run, id), await explainItem(other, id)];
  assert.deepEqual([two.mappedValues, two.payloads], [one.mappedValues, one.payloads]);
  assert.deepEqual(stepsSection(two, {}).rows.length, stepsSection(one, {}).rows.length);
  assert.deepEqual(two.document?.parts, one.document?.parts);
});

test("an item is found by ID and by slug, and of one that is like none no guess is made", async () => {
  await using run = await opened(out);
  const [row] = await all(run.connection, "SELECT slug FROM content WHERE content_id = $1", [FIRST]);
  for (const wanted of [FIRST, String(row?.slug)]) assert.equal(await findItemId(run, wanted), FIRST);
  const near = await failsWith("answer.nothing", findItemId(run, `${FIRST.slice(0, -1)}x`));
  assert.match(near.message, new RegExp(` The nearest .*"${row?.slug}"`));
  for (const wanted of ["qqqqqqqqqqqqqqqqqqq", "aaaaaaaaaaaaaaaaaaaaaaaa"]) {
    const { message } = await failsWith("answer.nothing", findItemId(run, wanted));
    assert.match(message, /No item has a similar name/);
  }
});

test("a value that the raw document does not have is an internal error, said loudly", async () => {
  const forged = await sampleCopy();
  const instance = await DuckDBInstance.create(join(forged, "current", "warehouse.duckdb"));
  const connection = await instance.connect();
  await execute(
    connection,
    `UPDATE content_custom_field_values SET mapping_input = 'forged' WHERE content_id = $1 AND custom_field_id NOT IN
       (SELECT custom_field_id FROM custom_field_mappings)`,
    [FIRST],
  );
  await execute(connection, "CHECKPOINT");
  connection.closeSync();
  instance.closeSync();
  await rm(join(forged, "current", "warehouse.duckdb.wal"), { force: true });
  await using run = await opened(forged);
  const error = await failsWith("verify.failed", explainItem(run, FIRST));
  assert.equal(error.exitCode, 31);
  assert.match(error.message, /^Run 000001-.* the raw document raw\/\S+ has others in/);
});

test("an item that lost its values while the run read it is explained by its last document", async (t) => {
  const clock = new HurriedClock();
  const scripted = await Scripted.start(t, [item("a", 1, { custom_fields: { "f-1": "green" } })]);
  const emptied = item("a", 1, { custom_fields: null, updated_at: "2026-11-20T01:58:30Z" });
  const stateOf = ({ mode }: Question) =>
    mode === "dynamic" && clock.elapsedMs() < 60_000 ? scripted.items : [emptied];
  scripted.arrange = (_items, question) => stateOf(question);
  scripted.script = (question) =>
    question.kind === "item" ? { body: { response: Object(stateOf(question)[0]) } } : undefined;
  const warehouse = await temporaryFolder(t);
  await exportFrom({ url: scripted.url, out: warehouse, clock, pipelineUrl: MAPPING });
  await using run = await opened(warehouse);
  const { values, document } = await explainItem(run, "a");
  assert.deepEqual(values, []);
  assert.deepEqual([document?.mode, document?.parts.size], ["item", 0]);
});

/** A warehouse that a test may damage. */
async function sampleCopy(): Promise<string> {
  const folder = await mkdtemp(join(out, "..", "forged-"));
  await cp(out, folder, { recursive: true, verbatimSymlinks: true });
  await chmod(join(folder, "current", "warehouse.duckdb"), 0o644);
  await chmod(join(folder, "current"), 0o755);
  return folder;
}
