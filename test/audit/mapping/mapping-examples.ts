import type {
  DestinationDefinition,
  FieldDefinition,
  Mapping,
  SelectValue,
} from "../../../src/audit/mapping/definitions.ts";
import type { ItemValue } from "../../../src/audit/questions/explain-facts.ts";

/**
 * Worked examples of the mapping procedure, one item each. The per-item procedure and the SQL steps are both held to
 * them. `reading`: the settled reading that an example shows.
 */
export interface MappingExample {
  readonly title: string;
  readonly fields: readonly FieldDefinition[];
  readonly destinations: readonly DestinationDefinition[];
  readonly values: readonly ItemValue[];
  readonly passthrough: boolean;
  /** The rows of the mapped values as texts: `crm f1.0 v1: emea -> Region: EU (mapped m1 m1.0)`. */
  readonly mappedValues: readonly string[];
  /** Destination ID to payload. */
  readonly payloads: Readonly<Record<string, string>>;
}

export const CRM: DestinationDefinition = {
  destinationId: "crm",
  identification: "Field Sales",
  supportsMappings: true,
};

const offered = (valueId: string, value: string, display = value, archived = false): SelectValue => ({
  valueId,
  value,
  display,
  archived,
});

const REGIONS = [
  offered("v1", "emea", "Europe"),
  offered("v2", "apac", "Asia"),
  offered("v3", "latam", "Latin America", true),
];

/** `to({ v1: "EU" })`: a mapping to the field `Region` of the CRM; entries as pairs where a value ID stands twice. */
function to(
  entries: Readonly<Record<string, string>> | readonly (readonly [string, string])[],
  rest: Partial<Mapping> = {},
): Mapping {
  const mappingId = rest.mappingId ?? "m1";
  const pairs = Array.isArray(entries) ? entries : Object.entries(entries);
  return {
    mappingId,
    destinationId: "crm",
    externalFieldName: "Region",
    entries: pairs.map(([valueId, externalValue], place) => ({
      mappingValueId: `${mappingId}.${place}`,
      valueId,
      externalValue,
    })),
    ...rest,
  };
}

function field(rest: Partial<FieldDefinition>): FieldDefinition {
  return {
    customFieldId: "f1",
    name: "region",
    fieldType: "multiselect",
    selectValues: REGIONS,
    mappings: [],
    ...rest,
  };
}

/** Values of a field as `custom_fields` gives them, in source order. */
function given(inputs: readonly (string | null)[], rest: Partial<ItemValue> = {}): ItemValue[] {
  return inputs.map((input, ordinal) => ({
    customFieldId: "f1",
    ordinal,
    input,
    inputIsId: false,
    text: null,
    ...rest,
  }));
}

function example(title: string, rest: Partial<MappingExample>): MappingExample {
  return {
    title,
    fields: [field({ mappings: [to({ v1: "EU", v2: "Asia-Pacific" })] })],
    destinations: [CRM],
    values: given(["v1"]),
    passthrough: false,
    mappedValues: [],
    payloads: {},
    ...rest,
  };
}

const ONE_FIELD_TWICE = [
  to({ v1: "first" }, { mappingId: "m2" }),
  to(
    { v1: "second", v2: "only in the second", gone: "old" },
    { mappingId: "m1", externalFieldName: "Territory" },
  ),
];

export const MAPPING_EXAMPLES: readonly MappingExample[] = [
  example("mapped: a value ID with an entry gives its external value, in an array", {
    mappedValues: ["crm f1.0 v1: emea -> Region: EU (mapped m1 m1.0)"],
    payloads: { crm: '{"Region":["EU"]}' },
  }),
  example("unmapped: a select value without an entry gives a row and no payload", {
    values: given(["v3"]),
    mappedValues: ["crm f1.0 v3: latam -> Region: null (unmapped m1, archived)"],
  }),
  example("unknown_value: an ID that is none of the field's select values keeps the text the item has", {
    values: given(["gone"], { inputIsId: true, text: "antarctica" }),
    mappedValues: ["crm f1.0 gone: antarctica -> Region: null (unknown_value m1, unknown)"],
  }),
  example("no_value_mapping: a field of another type keeps its value, also where the mapping has entries", {
    fields: [field({ fieldType: "text", mappings: [to({ v1: "EU" })] })],
    mappedValues: ["crm f1.0 null: v1 -> Region: null (no_value_mapping m1)"],
  }),
  example("passthrough: values without value mappings join the payload; unmapped ones do not", {
    fields: [
      field({ mappings: [to({ v1: "EU" })] }),
      field({
        customFieldId: "f2",
        fieldType: "number",
        selectValues: [],
        mappings: [to({}, { mappingId: "m2", externalFieldName: "Score" })],
      }),
    ],
    values: [...given(["v2"]), ...given(["4.50"], { customFieldId: "f2" })],
    passthrough: true,
    mappedValues: [
      "crm f1.0 v2: apac -> Region: null (unmapped m1)",
      "crm f2.0 null: 4.50 -> Score: null (no_value_mapping m2)",
    ],
    payloads: { crm: '{"Score":["4.50"]}' },
  }),
  example("value_archived: an archived select value is mapped like another", {
    fields: [field({ mappings: [to({ v3: "LatAm" })] })],
    values: given(["v3"]),
    mappedValues: ["crm f1.0 v3: latam -> Region: LatAm (mapped m1 m1.0, archived)"],
    payloads: { crm: '{"Region":["LatAm"]}' },
  }),
  example("reading 1: a value ID with an entry is mapped though the field no longer offers it", {
    fields: [field({ mappings: [to({ gone: "Old Region" })] })],
    values: given(["gone"]),
    mappedValues: ["crm f1.0 gone: null -> Region: Old Region (mapped m1 m1.0, unknown)"],
    payloads: { crm: '{"Region":["Old Region"]}' },
  }),
  example("reading 1: without an entry it is unknown_value or unmapped, by membership in the select values", {
    values: [...given(["gone"], { inputIsId: true }), ...given(["v3"], { ordinal: 1, inputIsId: true })],
    mappedValues: [
      "crm f1.0 gone: null -> Region: null (unknown_value m1, unknown)",
      "crm f1.1 v3: latam -> Region: null (unmapped m1, archived)",
    ],
  }),
  example("reading 2: a text is matched against value, then display, case included", {
    values: given(["apac", "Europe", "europe"]),
    mappedValues: [
      "crm f1.0 v2: apac -> Region: Asia-Pacific (mapped m1 m1.1, by text)",
      "crm f1.1 v1: emea -> Region: EU (mapped m1 m1.0, by text)",
      "crm f1.2 null: europe -> Region: null (unknown_value m1, unknown)",
    ],
    payloads: { crm: '{"Region":["Asia-Pacific","EU"]}' },
  }),
  example("reading 2: a text that is one value's display and a later one's value means the later one", {
    fields: [
      field({
        selectValues: [offered("v1", "x", "both"), offered("v2", "both", "y")],
        mappings: [to({ v1: "one", v2: "two" })],
      }),
    ],
    values: given(["both"]),
    mappedValues: ["crm f1.0 v2: both -> Region: two (mapped m1 m1.1, ambiguous, by text)"],
    payloads: { crm: '{"Region":["two"]}' },
  }),
  example("reading 2: an entry of any mapping of the field makes a string an ID, also one for elsewhere", {
    fields: [
      field({
        selectValues: [offered("v1", "old")],
        mappings: [to({ v1: "EU" }), to({ old: "Old" }, { mappingId: "m2", destinationId: "erp" })],
      }),
    ],
    values: given(["old"]),
    mappedValues: [
      "crm f1.0 old: null -> Region: null (unknown_value m1, unknown)",
      "erp f1.0 old: null -> Region: Old (mapped m2 m2.0, unknown, nameless)",
    ],
    payloads: { erp: '{"Region":["Old"]}' },
  }),
  example("reading 2: custom_field_value_ids makes a string an ID, though it is a select value's text", {
    values: given(["emea"], { inputIsId: true, text: "from another view" }),
    mappedValues: ["crm f1.0 emea: from another view -> Region: null (unknown_value m1, unknown)"],
  }),
  example("reading 3: of several entries for a value ID the first is used, and the row is ambiguous", {
    fields: [
      field({
        mappings: [
          to([
            ["v1", "first"],
            ["v2", "other"],
            ["v1", "second"],
          ]),
        ],
      }),
    ],
    values: given(["v1", "v2"]),
    mappedValues: [
      "crm f1.0 v1: emea -> Region: first (mapped m1 m1.0, ambiguous)",
      "crm f1.1 v2: apac -> Region: other (mapped m1 m1.1)",
    ],
    payloads: { crm: '{"Region":["first","other"]}' },
  }),
  example(
    "reading 3: of several mappings for a destination the first counts, and a later one's entries never do",
    {
      fields: [field({ mappings: ONE_FIELD_TWICE })],
      values: given(["v1", "v2", "gone", "nowhere"]),
      mappedValues: [
        "crm f1.0 v1: emea -> Region: first (mapped m2 m2.0, ambiguous)",
        "crm f1.1 v2: apac -> Region: null (unmapped m2, ambiguous)",
        "crm f1.2 gone: null -> Region: null (unknown_value m2, unknown, ambiguous)",
        "crm f1.3 null: nowhere -> Region: null (unknown_value m2, unknown, ambiguous)",
      ],
      payloads: { crm: '{"Region":["first"]}' },
    },
  ),
  example(
    "reading 3: a text that fits several select values means the first and is ambiguous, also when unmapped",
    {
      fields: [
        field({ selectValues: [offered("v9", "same"), offered("v1", "same")], mappings: [to({ v1: "EU" })] }),
      ],
      values: given(["same"]),
      mappedValues: ["crm f1.0 v9: same -> Region: null (unmapped m1, ambiguous, by text)"],
    },
  ),
  example(
    "reading 4: two fields with one external name collide, and share its array by field ID, then source order",
    {
      fields: [
        field({ customFieldId: "f9", mappings: [to({ v1: "nine-1", v2: "nine-2" }, { mappingId: "m9" })] }),
        field({ customFieldId: "f10", mappings: [to({ v1: "ten" }, { mappingId: "m10" })] }),
        field({
          customFieldId: "f5",
          mappings: [to({ v1: "elsewhere" }, { mappingId: "m5", externalFieldName: "region" })],
        }),
      ],
      values: [
        ...given(["v2", "v1"], { customFieldId: "f9" }),
        ...given(["v1"], { customFieldId: "f10" }),
        ...given(["v1"], { customFieldId: "f5" }),
      ].map((value, place, all) => ({
        ...value,
        ordinal: all.slice(0, place).filter((one) => one.customFieldId === value.customFieldId).length,
      })),
      mappedValues: [
        "crm f10.0 v1: emea -> Region: ten (mapped m10 m10.0, collision)",
        "crm f5.0 v1: emea -> region: elsewhere (mapped m5 m5.0)",
        "crm f9.0 v2: apac -> Region: nine-2 (mapped m9 m9.1, collision)",
        "crm f9.1 v1: emea -> Region: nine-1 (mapped m9 m9.0, collision)",
      ],
      payloads: { crm: '{"Region":["ten","nine-2","nine-1"],"region":["elsewhere"]}' },
    },
  ),
  example(
    "reading 4: a collision is a fact of the definitions, also where the item has but one of the fields",
    {
      fields: [
        field({ mappings: [to({ v1: "EU" })] }),
        field({
          customFieldId: "f2",
          mappings: [
            to({ v1: "EU" }, { mappingId: "m2" }),
            to({}, { mappingId: "m3", destinationId: "erp" }),
          ],
        }),
      ],
      mappedValues: ["crm f1.0 v1: emea -> Region: EU (mapped m1 m1.0, collision)"],
      payloads: { crm: '{"Region":["EU"]}' },
    },
  ),
  example("reading 4: the keys of a payload ascend by their bytes", {
    fields: ["\u{1F600}", "\uFFEE", "b", "B", "10", "9", "__proto__"].map((externalFieldName, place) =>
      field({
        customFieldId: `f${place}`,
        mappings: [to({ v1: "x" }, { mappingId: `m${place}`, externalFieldName })],
      }),
    ),
    values: given(["v1"], { customFieldId: "f0" }).flatMap((value) =>
      [0, 1, 2, 3, 4, 5, 6].map((place) => ({ ...value, customFieldId: `f${place}` })),
    ),
    mappedValues: [
      "crm f0.0 v1: emea -> 😀: x (mapped m0 m0.0)",
      "crm f1.0 v1: emea -> ￮: x (mapped m1 m1.0)",
      "crm f2.0 v1: emea -> b: x (mapped m2 m2.0)",
      "crm f3.0 v1: emea -> B: x (mapped m3 m3.0)",
      "crm f4.0 v1: emea -> 10: x (mapped m4 m4.0)",
      "crm f5.0 v1: emea -> 9: x (mapped m5 m5.0)",
      "crm f6.0 v1: emea -> __proto__: x (mapped m6 m6.0)",
    ],
    payloads: {
      crm: '{"10":["x"],"9":["x"],"B":["x"],"__proto__":["x"],"b":["x"],"\uFFEE":["x"],"\u{1F600}":["x"]}',
    },
  }),
  example("reading 5: values that stand twice or share an external value give it twice", {
    fields: [field({ mappings: [to({ v1: "World", v2: "World" })] })],
    values: given(["v1", "v2", "v1"]),
    mappedValues: [
      "crm f1.0 v1: emea -> Region: World (mapped m1 m1.0)",
      "crm f1.1 v2: apac -> Region: World (mapped m1 m1.1)",
      "crm f1.2 v1: emea -> Region: World (mapped m1 m1.0)",
    ],
    payloads: { crm: '{"Region":["World","World","World"]}' },
  }),
  example(
    "an entry without an external value is mapped and sends nothing, nor does a mapping without a name",
    {
      fields: [
        field({
          mappings: [
            { ...to({}), entries: [{ mappingValueId: "e1", valueId: "v1", externalValue: null }] },
            to({ v1: "EU" }, { mappingId: "m2", destinationId: "erp", externalFieldName: null }),
          ],
        }),
      ],
      mappedValues: [
        "crm f1.0 v1: emea -> Region: null (mapped m1 e1)",
        "erp f1.0 v1: emea -> null: EU (mapped m2 m2.0, nameless)",
      ],
    },
  ),
  example("reading 6: null gives no row and leaves its ordinal free; an empty string gives one", {
    values: given(["v1", null, "", "v2"]),
    mappedValues: [
      "crm f1.0 v1: emea -> Region: EU (mapped m1 m1.0)",
      "crm f1.2 null:  -> Region: null (unknown_value m1, unknown)",
      "crm f1.3 v2: apac -> Region: Asia-Pacific (mapped m1 m1.1)",
    ],
    payloads: { crm: '{"Region":["EU","Asia-Pacific"]}' },
  }),
  example("reading 7: a payload has a key only where there is a mapped value", {
    fields: [
      field({ mappings: [to({ v1: "EU" })] }),
      field({
        customFieldId: "f2",
        mappings: [to({ v1: "EU" }, { mappingId: "m2", externalFieldName: "Territory" })],
      }),
    ],
    values: [...given(["v2"]), ...given(["v1"], { customFieldId: "f2" })],
    mappedValues: [
      "crm f1.0 v2: apac -> Region: null (unmapped m1)",
      "crm f2.0 v1: emea -> Territory: EU (mapped m2 m2.0)",
    ],
    payloads: { crm: '{"Territory":["EU"]}' },
  }),
  example(
    "reading 7: destination_unsupported is true, false, or NULL where only a mapping names the destination",
    {
      fields: [
        field({
          mappings: ["crm", "erp", "known by ID"].map((destinationId, place) =>
            to({ v1: "EU" }, { mappingId: `m${place}`, destinationId }),
          ),
        }),
      ],
      destinations: [CRM, { destinationId: "erp", identification: "ERP", supportsMappings: false }],
      mappedValues: [
        "crm f1.0 v1: emea -> Region: EU (mapped m0 m0.0)",
        "erp f1.0 v1: emea -> Region: EU (mapped m1 m1.0, unsupported)",
        "known by ID f1.0 v1: emea -> Region: EU (mapped m2 m2.0, nameless)",
      ],
      payloads: { crm: '{"Region":["EU"]}', erp: '{"Region":["EU"]}', "known by ID": '{"Region":["EU"]}' },
    },
  ),
  example("reading 8: one name found on two platforms is two destinations, and not ambiguous", {
    fields: [
      field({
        mappings: [to({ v1: "EU" }), to({ v1: "EUROPE" }, { mappingId: "m2", destinationId: "other" })],
      }),
    ],
    destinations: [CRM, { ...CRM, destinationId: "other" }],
    mappedValues: [
      "crm f1.0 v1: emea -> Region: EU (mapped m1 m1.0)",
      "other f1.0 v1: emea -> Region: EUROPE (mapped m2 m2.0)",
    ],
    payloads: { crm: '{"Region":["EU"]}', other: '{"Region":["EUROPE"]}' },
  }),
  example("reading 11: a value ID shows the definition's value, not what another view of the item says", {
    values: given(["v1"], { text: "an older text" }),
    mappedValues: ["crm f1.0 v1: emea -> Region: EU (mapped m1 m1.0)"],
    payloads: { crm: '{"Region":["EU"]}' },
  }),
  example("reading 12: definitions that share a name are fields of their own", {
    fields: [
      field({ mappings: [to({ v1: "EU" })] }),
      field({
        customFieldId: "f2",
        mappings: [to({ v1: "Europa" }, { mappingId: "m2", externalFieldName: "Gebiet" })],
      }),
    ],
    values: [...given(["v1"]), ...given(["v1"], { customFieldId: "f2" })],
    mappedValues: [
      "crm f1.0 v1: emea -> Region: EU (mapped m1 m1.0)",
      "crm f2.0 v1: emea -> Gebiet: Europa (mapped m2 m2.0)",
    ],
    payloads: { crm: '{"Gebiet":["Europa"],"Region":["EU"]}' },
  }),
  example("reading 16: a file field keeps the file ID, a number or an object its JSON text", {
    fields: [
      field({ fieldType: "file", selectValues: [], mappings: [to({})] }),
      field({
        customFieldId: "f2",
        fieldType: "select",
        selectValues: [offered("5", "five")],
        mappings: [to({ "5": "V" }, { mappingId: "m2", externalFieldName: "Roman" })],
      }),
      field({
        customFieldId: "f3",
        fieldType: "unheard-of",
        selectValues: [],
        mappings: [to({}, { mappingId: "m3", externalFieldName: "Odd" })],
      }),
    ],
    values: [
      ...given(["file-1"], { inputIsId: true, text: "plan.pdf" }),
      ...given(["5"], { customFieldId: "f2" }),
      ...given(['{"a":[1]}'], { customFieldId: "f3" }),
    ],
    passthrough: true,
    mappedValues: [
      "crm f1.0 null: file-1 -> Region: null (no_value_mapping m1)",
      "crm f2.0 5: five -> Roman: V (mapped m2 m2.0)",
      'crm f3.0 null: {"a":[1]} -> Odd: null (no_value_mapping m3)',
    ],
    payloads: { crm: '{"Odd":["{\\"a\\":[1]}"],"Region":["file-1"],"Roman":["V"]}' },
  }),
];
