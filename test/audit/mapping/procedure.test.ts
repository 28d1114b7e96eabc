import assert from "node:assert/strict";
import { test } from "node:test";
import { indexDefinitions } from "../../../src/audit/mapping/definitions.ts";
import type { Step } from "../../../src/audit/mapping/procedure.ts";
import { type MappedItem, mapItem } from "../../../src/audit/mapping/procedure.ts";
import { assertLedger } from "../assert-ledger.ts";
import { MAPPING_EXAMPLES, type MappingExample } from "./mapping-examples.ts";
import { payloadJson } from "./payload-json.ts";

const NO_SUCH_EXAMPLE = { fields: [], destinations: [], values: [], passthrough: false };

function map(
  example: Pick<MappingExample, "fields" | "destinations" | "values" | "passthrough">,
): MappedItem {
  const definitions = indexDefinitions(example.fields, example.destinations);
  const item = { contentId: "item", values: example.values };
  return mapItem(item, definitions, { passthrough: example.passthrough });
}

for (const example of MAPPING_EXAMPLES) {
  test(example.title, () => {
    const { ledger, payloads } = map(example);
    assertLedger(ledger, example.ledger);
    const written = [...payloads].map(([destination, payload]) => [destination, payloadJson(payload)]);
    assert.deepEqual(Object.fromEntries(written), example.payloads);
  });
}

test("an explanation has the values that each rule found, in the order of the rules", () => {
  const example = MAPPING_EXAMPLES.find(({ title }) => title.startsWith("mapped:"));
  const { steps, ledger } = map(example ?? NO_SUCH_EXAMPLE);
  const at = { destinationId: "crm", customFieldId: "f1" };
  const expected: Step[] = [
    { rule: 1, destinationId: "crm", identification: "Field Sales", supportsMappings: true },
    { rule: 2, ...at, name: "region", mappingIds: ["m1"], mappingId: "m1" },
    { rule: 3, ...at, mappingId: "m1", externalFieldName: "Region", entries: 2, sharedBy: ["f1"] },
    { rule: 4, ...at, fieldType: "multiselect", hasValueMappings: true },
    { rule: 5, ...at, ordinal: 0, input: "v1", readAs: "id_of_select_value", valueId: "v1", fits: [] },
    ...ledger.map((row): Step => ({ rule: 6, ...at, ordinal: 0, entryIds: ["m1.0"], row })),
    { rule: 7, destinationId: "crm", externalFieldName: "Region", values: ["EU"] },
  ];
  assert.deepEqual(steps, expected);
});

test("an explanation says how each string was read, and that a field has no mapping or an item no value", () => {
  const readAs = new Set<string>();
  const unpicked = new Set<string>();
  for (const example of MAPPING_EXAMPLES) {
    for (const step of map(example).steps) {
      if (step.rule === 5) readAs.add(step.readAs);
      if (step.rule === 2 && step.mappingId === null) unpicked.add(example.title);
    }
  }
  assert.deepEqual([...readAs].sort(), [
    "absent",
    "id_in_mapping",
    "id_in_value_ids",
    "id_of_select_value",
    "text_of_display",
    "text_of_value",
    "unknown_text",
    "value",
  ]);
  assert.ok([...unpicked].some((title) => title.startsWith("a field without a mapping for any destination")));
});

test("an explanation shows every mapping, entry and select value that fits, not only the one used", () => {
  const fitting = MAPPING_EXAMPLES.filter(({ title }) => title.startsWith("reading 3")).flatMap((example) =>
    map(example).steps.flatMap((step) => {
      if (step.rule === 2 && step.mappingIds.length > 1) return [step.mappingIds];
      if (step.rule === 6 && step.entryIds.length > 1) return [step.entryIds];
      return step.rule === 5 && step.fits.length > 1 ? [step.fits] : [];
    }),
  );
  assert.deepEqual(fitting, [
    ["m1.0", "m1.2"],
    ["m1.0", "m1.1"],
    ["m2", "m1"],
    ["v9", "v1"],
  ]);
});
