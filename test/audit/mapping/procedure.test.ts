import assert from "node:assert/strict";
import { test } from "node:test";
import type { MappedValue } from "../../../src/audit/mapped-value.ts";
import { indexDefinitions } from "../../../src/audit/mapping/definitions.ts";
import type { ItemExplanation } from "../../../src/audit/questions/explain-facts.ts";
import { notesOf, stepsSection } from "../../../src/audit/questions/explain-steps.ts";
import type { Reception } from "../../../src/warehouse/manifest.ts";
import { MAPPING_EXAMPLES, type MappingExample } from "./mapping-examples.ts";
import { mapItem, payloadJson } from "./procedure.ts";

function map({ fields, destinations, values, passthrough }: MappingExample) {
  const definitions = indexDefinitions(fields, destinations);
  return { definitions, ...mapItem({ contentId: "item", values }, definitions, { passthrough }) };
}

/** Destination, field and place, value; what is sent under which name; status, mapping, entry and flags. */
function rowText(row: MappedValue): string {
  const { destinationId, customFieldId, ordinal, valueId, value, externalFieldName, externalValue } = row;
  const { status, mappingId, mappingValueId, destinationUnsupported } = row;
  const marks = [
    [status, mappingId, ...(mappingValueId === null ? [] : [mappingValueId])].join(" "),
    ...(row.valueArchived ? ["archived"] : []),
    ...(row.valueUnknown ? ["unknown"] : []),
    ...(row.ambiguous ? ["ambiguous"] : []),
    ...(row.matchedByText ? ["by text"] : []),
    ...(row.collision ? ["collision"] : []),
    ...(destinationUnsupported === true ? ["unsupported"] : []),
    ...(destinationUnsupported === null ? ["nameless"] : []),
  ];
  return `${destinationId} ${customFieldId}.${ordinal} ${valueId}: ${value} -> ${externalFieldName}: ${externalValue} (${marks.join(", ")})`;
}

for (const example of MAPPING_EXAMPLES) {
  test(example.title, () => {
    const { mappedValues, payloads } = map(example);
    assert.deepEqual(mappedValues.map(rowText), example.mappedValues);
    const written = [...payloads].map(([destination, payload]) => [destination, payloadJson(payload)]);
    assert.deepEqual(Object.fromEntries(written), example.payloads);
  });
}

/** Facts of an example as `explain` has them. */
function explanationOf(example: MappingExample): ItemExplanation {
  const { definitions, mappedValues, payloads } = map(example);
  const { values, passthrough } = example;
  const item = { contentId: "item", slug: null, title: null, contentType: null, updatedAt: null };
  const receptions = new Map<string, Reception>();
  const members = [...payloads].flatMap(([destinationId, payload]) =>
    [...payload].map(([name, texts]) => ({ destinationId, name, values: texts })),
  );
  const facts = { item, values, definitions, receptions, mappedValues, passthrough, document: undefined };
  return { ...facts, payloads: members, sinceOf: () => undefined };
}

/** Results of the steps of an example, by their rules. */
function stepsOf(example: MappingExample): (readonly [rule: unknown, result: string])[] {
  const found = explanationOf(example);
  const fieldIds = found.definitions.fields.map(({ customFieldId }) => customFieldId);
  return stepsSection(found, { fieldIds }).rows.map(({ rule, result }) => [rule, String(result)]);
}

test("an explanation says how each string was read, and that a field has no mapping or an item no value", () => {
  const found = MAPPING_EXAMPLES.flatMap(stepsOf).map(([rule, result]) => `${rule} ${result}`);
  for (const said of [
    "5 the item has no value",
    "5 a value ID, since a mapping of the field has it as one",
    "5 the ID of a value that the field does not offer (from `custom_field_value_ids`)",
    "5 the ID of a value of the field",
    "5 no ID, but the text of a value",
    "5 no ID, but the display text of a value",
    "5 neither an ID nor the text of any value of the field",
    "5 a value as it is",
    "2 the field has no mapping there, so its values are not sent",
  ])
    assert.ok(
      found.some((each) => each.startsWith(said)),
      said,
    );
});

test("an explanation shows every mapping, entry and select value that fits, not only the one used", () => {
  const fitting = MAPPING_EXAMPLES.filter(({ title }) => title.startsWith("reading 3"))
    .flatMap(stepsOf)
    .flatMap(
      ([, result]) => /there is .* too|; .* would fit too|it fits [^,]+, [^,]+/.exec(result)?.[0] ?? [],
    );
  assert.deepEqual(fitting, ["; m1.2 would fit too", "there is m1 too", "it fits v9, v1"]);
});

test("H20: the row of a value names what is unusual about it: exactly its flags, and both candidates", () => {
  const seen = MAPPING_EXAMPLES.flatMap((example) => {
    const explanation = explanationOf(example);
    return explanation.mappedValues.flatMap((row) => {
      const notes = notesOf(explanation, row)?.split("; ") ?? [];
      const flags = {
        "matched by text": row.matchedByText,
        "ambiguous:": row.ambiguous,
        "collision with": row.collision,
        archived: row.valueArchived,
      };
      for (const [word, isSet] of Object.entries(flags))
        assert.equal(
          notes.some((note) => note.startsWith(word)),
          isSet,
          `${example.title}: ${word}`,
        );
      return notes;
    });
  });
  for (const note of [
    'ambiguous: "first" or "second"',
    'ambiguous: nothing or "only in the second"',
    'ambiguous: "both", shown as "y" or "x", shown as "both"',
    'matched by text "Europe"',
    "collision with region",
  ])
    assert.ok(seen.includes(note), note);
});
