/** Definitions and destinations that are written otherwise than the specification has them. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { failsWith } from "../failing.ts";
import { MAPPING, type Row, rowsOf, scriptedWorld } from "./running.ts";
import { type Item, itemsOf, type Json } from "./scripted.ts";

/** What is odd about a field or its destination; the rest is as the specification has it. */
interface Odd {
  readonly definition?: Json;
  readonly select?: Json;
  /** In place of a list of it, if it has `alone`. */
  readonly mapping?: Json;
  readonly alone?: true;
  readonly entry?: Json;
  readonly shop?: Json;
  /** What the item has. */
  readonly value?: unknown;
}

const fieldId = (place: number) => `f-${place}`;

function definitionOf(odd: Odd, place: number): Json {
  const entry = { id: `e-${place}`, value_id: "v-1", value: "north", ...odd.entry };
  const mapping = {
    id: `m-${place}`,
    field_name: "market",
    external_site_id: `d-${place}`,
    values: [entry],
    ...odd.mapping,
  };
  const select = { id: "v-1", value: "North", display: "North", archived: false, ...odd.select };
  return {
    id: fieldId(place),
    name: `region ${place}`,
    field_type: "select",
    formatted_select_values: [select],
    mappings: odd.alone ? mapping : [mapping],
    ...odd.definition,
  };
}

/** A night with one item, and a field and a destination of each kind. `besides`: what else the lookups have. */
async function night(t: TestContext, kinds: readonly Odd[], besides: readonly (Json | null)[] = []) {
  const { service, exported } = await scriptedWorld(t, itemsOf(1));
  const named = kinds.map((_, place) => ({ name: `Shop ${place}`, platform: "External" }));
  const full = kinds.map((_, place) => ({
    id: fieldId(place),
    name: `region ${place}`,
    field_type: "select",
  }));
  const dynamic = kinds.map(({ value = "v-1" }, place) => [fieldId(place), value]);
  service.arrange = (items, { mode }) =>
    items.map((each) => ({
      ...(each as Item),
      ...(mode === "dynamic" ? { custom_fields: Object.fromEntries(dynamic) } : {}),
      ...(mode === "full" ? { custom_fields: full } : {}),
    }));
  const shops = kinds.map(({ shop }, place) => ({
    id: `d-${place}`,
    identification: `Shop ${place}`,
    platform: "External",
    supports_custom_field_mappings: true,
    ...shop,
  }));
  service.script = ({ kind }) => {
    if (kind === "destinations") return { body: [...besides.filter((each) => each !== null), ...shops] };
    const definitions = [...besides.filter((each) => each === null), ...kinds.map(definitionOf)];
    return kind === "custom_fields" ? { body: definitions } : undefined;
  };
  return exported({ pipelineUrl: MAPPING, config: { destinations: named } });
}

const MAPPED: Row = ["north", "mapped", false, false];
const NOT_MAPPED: Row = [null, "mapped", false, false];
const VALUES = `
  SELECT custom_field_id, external_value, status, value_archived, destination_unsupported
  FROM content_mapped_values`;
const DRIFT = `
  SELECT replace(path, 'custom_field_definition.', '') || ' ' || kind
  FROM run_drift WHERE kind IN ('type', 'single_for_list') ORDER BY ALL`;
const EXTRAS = `
  SELECT extra FROM custom_field_mapping_values WHERE extra IS NOT NULL
  UNION ALL SELECT extra FROM custom_fields WHERE extra IS NOT NULL`;

const ENTRY = "mappings[].values[]";
const SELECT = "formatted_select_values[]";
const EXTERNAL = "custom_field_mapping_values.external_value";

/** By what is odd: the mapped values, the drift, and what stands in `extra`. */
const KINDS: Readonly<
  Record<string, readonly [odd: Odd, values: readonly Row[], drift?: readonly string[], extra?: string]>
> = {
  "a number as external value": [
    { entry: { value: 1 } },
    [["1", "mapped", false, false]],
    [`${ENTRY}.value type`],
  ],
  "a boolean as external value": [{ entry: { value: true } }, [["true", "mapped", false, false]]],
  "a list as external value": [
    { entry: { value: ["a"] } },
    [NOT_MAPPED],
    [`${EXTERNAL} type`],
    `{"${EXTERNAL}":["a"]}`,
  ],
  "an object as external value": [
    { entry: { value: { en: "a" } } },
    [NOT_MAPPED],
    [],
    `{"${EXTERNAL}":{"en":"a"}}`,
  ],
  "an entry without a value ID": [{ entry: { value_id: null } }, [[null, "unmapped", false, false]]],
  "a mapping without a destination": [{ mapping: { external_site_id: null } }, []],
  "a number as select value": [{ select: { value: 2024 }, value: 2024 }, [MAPPED], [`${SELECT}.value type`]],
  "archived that is null": [{ select: { archived: null } }, [MAPPED]],
  "archived as a text": [{ select: { archived: "false" } }, [MAPPED], [`${SELECT}.archived type`]],
  "archived as the text true": [{ select: { archived: "true" } }, [["north", "mapped", true, false]]],
  "support that is null": [
    { shop: { supports_custom_field_mappings: null } },
    [["north", "mapped", false, null]],
  ],
  "support as a text": [
    { shop: { supports_custom_field_mappings: "true" } },
    [MAPPED],
    ["destination.supports_custom_field_mappings type"],
  ],
  "numbers as IDs, one mapping for a list, null where there may be none": [
    {
      select: { id: 7, display: null },
      entry: { id: null, value_id: 7 },
      mapping: { id: 5, external_site_id: 9, field_name: "market" },
      alone: true,
      shop: { id: 9, platform: null },
      definition: { display_label: null, created_by: null },
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

test("H14: odd definitions and destinations, null in their lists and one without a name end no night", async (t) => {
  const expected = Object.values(KINDS);
  const odd = expected.map(([each]) => each);
  const nameless = { id: "d-nameless", identification: null };
  const { verdict, directory } = await night(t, odd, [null, nameless]);
  assert.equal(verdict, "complete");
  const found = await rowsOf(directory, VALUES);
  for (const [place, [what, [, values]]] of Object.entries(KINDS).entries()) {
    const own = found.filter(([field]) => field === fieldId(place)).map((row) => row.slice(1));
    assert.deepEqual(own, values, what);
  }
  const drift = ["custom_field_definition type", ...expected.flatMap(([, , each = []]) => each)];
  assert.deepEqual((await rowsOf(directory, DRIFT)).flat(), drift.sort());
  const extras = expected.flatMap(([, , , extra]) => extra ?? []);
  assert.deepEqual((await rowsOf(directory, EXTRAS)).flat().sort(), extras.sort());
});

test("H14: what is needed and cannot be known ends the run, and the sentence names it", async (t) => {
  const cases: readonly (readonly [odd: Odd, sentence: RegExp])[] = [
    [{ definition: { id: null } }, /the custom field "region 0" without an id/],
    [{ shop: { id: null } }, /the destination "Shop 0" without an id/],
    [
      { shop: { identification: null } },
      /one destination without an identification \(d-0\), which may be "Shop 0"/,
    ],
  ];
  for (const [odd, sentence] of cases) {
    const { message, exitCode } = await failsWith("contract.drift", night(t, [odd]));
    assert.match(message, sentence);
    assert.equal(exitCode, 23);
  }
});
