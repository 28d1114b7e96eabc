/** Definitions and destinations that are written otherwise than the specification has them. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { failsWith } from "../failing.ts";
import { few } from "../long.ts";
import { exportFrom, MAPPING, type Row, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, itemsOf, type Json, Scripted } from "./scripted.ts";

const SHOP = {
  id: "d-1",
  identification: "Shop",
  platform: "External",
  supports_custom_field_mappings: true,
};

/** What is odd about the answers; the rest is as the specification has it. */
interface Odd {
  readonly definition?: Json;
  readonly select?: Json;
  readonly mapping?: Json;
  readonly entry?: Json;
  readonly shop?: Json;
  /** All rows of the lookup, made from the good one. */
  readonly definitions?: (good: Json) => unknown;
  readonly destinations?: (good: Json) => unknown;
  /** What the item has. */
  readonly value?: unknown;
}

/** A night with one item and one field, mapped at one destination. */
async function night(t: TestContext, odd: Odd) {
  const service = await Scripted.start(t, itemsOf(1));
  const value = odd.value ?? "v-1";
  service.arrange = (items, { mode }) =>
    items.map((each) => ({
      ...(each as Item),
      ...(mode === "dynamic" ? { custom_fields: { "f-1": value } } : {}),
      ...(mode === "full" ? { custom_fields: [{ id: "f-1", name: "region", field_type: "select" }] } : {}),
    }));
  const entry = { id: "e-1", value_id: "v-1", value: "north", ...odd.entry };
  const mapping = {
    id: "m-1",
    field_name: "market",
    external_site_id: "d-1",
    values: [entry],
    ...odd.mapping,
  };
  const select = { id: "v-1", value: "North", display: "North", archived: false, ...odd.select };
  const definition = {
    id: "f-1",
    name: "region",
    field_type: "select",
    formatted_select_values: [select],
    mappings: [mapping],
    ...odd.definition,
  };
  const { definitions = (good) => [good], destinations = (good) => [good] } = odd;
  service.script = ({ kind }) => {
    if (kind === "destinations") return { body: destinations({ ...SHOP, ...odd.shop }) as object };
    return kind === "custom_fields" ? { body: definitions(definition) as object } : undefined;
  };
  const out = await temporaryFolder(t);
  const config = { destinations: [{ name: "Shop", platform: "External" }] };
  return exportFrom({ url: service.url, out, pipelineUrl: MAPPING, config });
}

const MAPPED: Row = ["north", "mapped", false, false];
const VALUES = `
  SELECT external_value, status, value_archived, destination_unsupported
  FROM content_mapped_values`;
const DRIFT = `
  SELECT replace(path, 'custom_field_definition.', '') || ' ' || kind
  FROM run_drift WHERE kind IN ('type', 'single_for_list') ORDER BY ALL`;
const EXTRAS = `
  SELECT extra FROM custom_field_mapping_values WHERE extra IS NOT NULL
  UNION ALL SELECT extra FROM custom_fields WHERE extra IS NOT NULL`;

const ENTRY = "mappings[].values[]";
const SELECT = "formatted_select_values[]";
const NOT_MAPPED: Row = [null, "mapped", false, false];

/** By what is odd: the mapped values, the drift, and what stands in `extra`. */
const NIGHTS: Readonly<
  Record<string, readonly [odd: Odd, values: readonly Row[], drift: string[], extra?: string]>
> = {
  "a number as external value": [
    { entry: { value: 1 } },
    [["1", "mapped", false, false]],
    [`${ENTRY}.value type`],
  ],
  "a boolean as external value": [
    { entry: { value: true } },
    [["true", "mapped", false, false]],
    [`${ENTRY}.value type`],
  ],
  "a list as external value": [
    { entry: { value: ["a"] } },
    [NOT_MAPPED],
    ["custom_field_mapping_values.external_value type"],
    '{"custom_field_mapping_values.external_value":["a"]}',
  ],
  "an object as external value": [
    { entry: { value: { en: "a" } } },
    [NOT_MAPPED],
    ["custom_field_mapping_values.external_value type"],
    '{"custom_field_mapping_values.external_value":{"en":"a"}}',
  ],
  "an entry without a value ID": [{ entry: { value_id: null } }, [[null, "unmapped", false, false]], []],
  "a mapping without a destination": [{ mapping: { external_site_id: null } }, [], []],
  "a number as select value": [{ select: { value: 2024 }, value: 2024 }, [MAPPED], [`${SELECT}.value type`]],
  "archived that is null": [{ select: { archived: null } }, [MAPPED], []],
  "archived as a text": [{ select: { archived: "false" } }, [MAPPED], [`${SELECT}.archived type`]],
  "archived as the text true": [
    { select: { archived: "true" } },
    [["north", "mapped", true, false]],
    [`${SELECT}.archived type`],
  ],
  "null in a list of definitions": [
    { definitions: (good) => [null, good] },
    [MAPPED],
    ["custom_field_definition type"],
  ],
  "support that is null": [
    { shop: { supports_custom_field_mappings: null } },
    [["north", "mapped", false, null]],
    [],
  ],
  "support as a text": [
    { shop: { supports_custom_field_mappings: "true" } },
    [MAPPED],
    ["destination.supports_custom_field_mappings type"],
  ],
  "a second destination without a name": [
    { destinations: (good) => [{ id: "d-2", identification: null }, good] },
    [MAPPED],
    [],
  ],
  "numbers as IDs, one mapping for a list, null where there may be none": [
    {
      select: { id: 7, display: null },
      entry: { id: null, value_id: 7 },
      mapping: { id: 5, external_site_id: 9, field_name: "market" },
      shop: { id: 9, platform: null },
      definition: { display_label: null, created_by: null },
      definitions: ({ mappings, ...good }) => [{ ...good, mappings: (mappings as unknown[])[0] }],
      value: "7",
    },
    [MAPPED],
    [
      "destination.id type",
      `${SELECT}.id type`,
      "mappings single_for_list",
      "mappings[].external_site_id type",
      "mappings[].id type",
      `${ENTRY}.value_id type`,
    ],
    '{"created_by":null}',
  ],
};

for (const [what, [odd, values, drift, extra]] of few(Object.entries(NIGHTS), 4)) {
  test(`H14: ${what} ends no night`, async (t) => {
    const { verdict, directory } = await night(t, odd);
    assert.equal(verdict, "complete");
    assert.deepEqual(await rowsOf(directory, VALUES), values);
    assert.deepEqual((await rowsOf(directory, DRIFT)).flat(), drift);
    assert.deepEqual((await rowsOf(directory, EXTRAS)).flat(), extra === undefined ? [] : [extra]);
  });
}

const REFUSED: Readonly<Record<string, readonly [odd: Odd, sentence: RegExp]>> = {
  "a definition without an ID": [{ definition: { id: null } }, /the custom field "region" without an id/],
  "a destination without an ID": [{ shop: { id: null } }, /the destination "Shop" without an id/],
  "no destination with a name": [
    { destinations: (good) => [{ ...good, identification: null }] },
    /one destination without an identification \(d-1\), which may be "Shop"/,
  ],
};

for (const [what, [odd, sentence]] of few(Object.entries(REFUSED), 1)) {
  test(`H14: ${what} ends the run, and the sentence names it`, async (t) => {
    const { message, exitCode } = await failsWith("contract.drift", night(t, odd));
    assert.match(message, sentence);
    assert.equal(exitCode, 23);
  });
}
