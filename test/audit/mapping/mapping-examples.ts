import type { MappedValue } from "../../../src/audit/mapped-value.ts";
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
  /** What each row of the mapped values must say; columns that are not named are not the example's subject. */
  readonly mappedValues: readonly Partial<MappedValue>[];
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
    mappedValues: [
      {
        contentId: "item",
        destinationId: "crm",
        customFieldId: "f1",
        ordinal: 0,
        externalFieldName: "Region",
        valueId: "v1",
        value: "emea",
        mappingId: "m1",
        mappingValueId: "m1.0",
        externalValue: "EU",
        status: "mapped",
        valueArchived: false,
        valueUnknown: false,
        ambiguous: false,
        matchedByText: false,
        destinationUnsupported: false,
        collision: false,
      },
    ],
    payloads: { crm: '{"Region":["EU"]}' },
  }),
  example("unmapped: a select value without an entry gives a row and no payload", {
    values: given(["v3"]),
    mappedValues: [
      {
        status: "unmapped",
        valueId: "v3",
        value: "latam",
        mappingId: "m1",
        mappingValueId: null,
        externalValue: null,
      },
    ],
  }),
  example("unknown_value: an ID that is none of the field's select values keeps the text the item has", {
    values: given(["gone"], { inputIsId: true, text: "antarctica" }),
    mappedValues: [{ status: "unknown_value", valueId: "gone", value: "antarctica", valueUnknown: true }],
  }),
  example("no_value_mapping: a field of another type keeps its value, also where the mapping has entries", {
    fields: [field({ fieldType: "text", mappings: [to({ v1: "EU" })] })],
    mappedValues: [
      {
        status: "no_value_mapping",
        valueId: null,
        value: "v1",
        externalValue: null,
        mappingValueId: null,
        valueUnknown: false,
      },
    ],
  }),
  example("no_value_mapping: a type that differs in case is another type", {
    fields: [field({ fieldType: "Select", mappings: [to({ v1: "EU" })] })],
    mappedValues: [{ status: "no_value_mapping" }],
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
      { status: "unmapped" },
      { status: "no_value_mapping", value: "4.50", externalValue: null },
    ],
    payloads: { crm: '{"Score":["4.50"]}' },
  }),
  example("value_archived: an archived select value is mapped like another", {
    fields: [field({ mappings: [to({ v3: "LatAm" })] })],
    values: given(["v3"]),
    mappedValues: [{ status: "mapped", valueArchived: true, externalValue: "LatAm" }],
    payloads: { crm: '{"Region":["LatAm"]}' },
  }),
  example("a field without a mapping for any destination, and one that nobody defines, give nothing", {
    fields: [field({ mappings: [to({ v1: "EU" }, { destinationId: null })] })],
    values: [...given(["v1"]), ...given(["v1"], { customFieldId: "undefined" })],
  }),

  example("reading 1: a value ID with an entry is mapped though the field no longer offers it", {
    fields: [field({ mappings: [to({ gone: "Old Region" })] })],
    values: given(["gone"]),
    mappedValues: [
      {
        status: "mapped",
        valueId: "gone",
        valueUnknown: true,
        externalValue: "Old Region",
        ambiguous: false,
      },
    ],
    payloads: { crm: '{"Region":["Old Region"]}' },
  }),
  example("reading 1: without an entry it is unknown_value or unmapped, by membership in the select values", {
    values: [...given(["gone"], { inputIsId: true }), ...given(["v3"], { ordinal: 1, inputIsId: true })],
    mappedValues: [
      { status: "unknown_value", valueUnknown: true },
      { status: "unmapped", valueUnknown: false },
    ],
  }),
  example("reading 2: a text is matched against value, then display, case included", {
    values: given(["apac", "Europe", "europe"]),
    mappedValues: [
      { status: "mapped", valueId: "v2", value: "apac", matchedByText: true, externalValue: "Asia-Pacific" },
      { status: "mapped", valueId: "v1", value: "emea", matchedByText: true, externalValue: "EU" },
      { status: "unknown_value", valueId: null, value: "europe", matchedByText: false, valueUnknown: true },
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
    mappedValues: [{ valueId: "v2", externalValue: "two", matchedByText: true, ambiguous: true }],
    payloads: { crm: '{"Region":["two"]}' },
  }),
  example("reading 2: a string that is one value's ID and another's text is the ID", {
    fields: [
      field({
        selectValues: [offered("v1", "v2"), offered("v2", "v1")],
        mappings: [to({ v1: "one", v2: "two" })],
      }),
    ],
    mappedValues: [{ valueId: "v1", externalValue: "one", matchedByText: false, ambiguous: false }],
    payloads: { crm: '{"Region":["one"]}' },
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
      { destinationId: "crm", valueId: "old", status: "unknown_value", matchedByText: false },
      { destinationId: "erp", valueId: "old", status: "mapped", externalValue: "Old", valueUnknown: true },
    ],
    payloads: { erp: '{"Region":["Old"]}' },
  }),
  example("reading 2: custom_field_value_ids makes a string an ID, though it is a select value's text", {
    values: given(["emea"], { inputIsId: true, text: "from another view" }),
    mappedValues: [
      { status: "unknown_value", valueId: "emea", value: "from another view", matchedByText: false },
    ],
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
      { externalValue: "first", mappingValueId: "m1.0", ambiguous: true },
      { externalValue: "other", mappingValueId: "m1.1", ambiguous: false },
    ],
    payloads: { crm: '{"Region":["first","other"]}' },
  }),
  example("reading 3: entries that agree are several too", {
    fields: [
      field({
        mappings: [
          to([
            ["v1", "EU"],
            ["v1", "EU"],
          ]),
        ],
      }),
    ],
    mappedValues: [{ externalValue: "EU", ambiguous: true }],
    payloads: { crm: '{"Region":["EU"]}' },
  }),
  example(
    "reading 3: of several mappings for a destination the first counts, and a later one's entries never do",
    {
      fields: [field({ mappings: ONE_FIELD_TWICE })],
      values: given(["v1", "v2", "gone", "nowhere"]),
      mappedValues: [
        {
          status: "mapped",
          mappingId: "m2",
          externalFieldName: "Region",
          externalValue: "first",
          ambiguous: true,
        },
        { status: "unmapped", valueId: "v2", mappingId: "m2", ambiguous: true },
        { status: "unknown_value", valueId: "gone", mappingId: "m2", ambiguous: true },
        { status: "unknown_value", valueId: null, value: "nowhere", mappingId: "m2", ambiguous: true },
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
      mappedValues: [{ status: "unmapped", valueId: "v9", matchedByText: true, ambiguous: true }],
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
        { customFieldId: "f10", collision: true, externalValue: "ten" },
        { customFieldId: "f5", collision: false, externalValue: "elsewhere" },
        { customFieldId: "f9", ordinal: 0, collision: true, externalValue: "nine-2" },
        { customFieldId: "f9", ordinal: 1, collision: true, externalValue: "nine-1" },
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
      mappedValues: [{ customFieldId: "f1", collision: true }],
      payloads: { crm: '{"Region":["EU"]}' },
    },
  ),
  example("reading 4: one field with two mappings to one name at a destination is no collision", {
    fields: [field({ mappings: [to({ v1: "EU" }), to({ v1: "EU" }, { mappingId: "m2" })] })],
    mappedValues: [{ collision: false, ambiguous: true }],
    payloads: { crm: '{"Region":["EU"]}' },
  }),
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
    mappedValues: new Array(7).fill({ status: "mapped" }),
    payloads: {
      crm: '{"10":["x"],"9":["x"],"B":["x"],"__proto__":["x"],"b":["x"],"\uFFEE":["x"],"\u{1F600}":["x"]}',
    },
  }),
  example("reading 5: values that stand twice or share an external value give it twice", {
    fields: [field({ mappings: [to({ v1: "World", v2: "World" })] })],
    values: given(["v1", "v2", "v1"]),
    mappedValues: new Array(3).fill({ externalValue: "World", ambiguous: false }),
    payloads: { crm: '{"Region":["World","World","World"]}' },
  }),
  example("reading 5: an empty external value is a value", {
    fields: [field({ mappings: [to({ v1: "" })] })],
    mappedValues: [{ status: "mapped", externalValue: "" }],
    payloads: { crm: '{"Region":[""]}' },
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
        { destinationId: "crm", status: "mapped", mappingValueId: "e1", externalValue: null },
        {
          destinationId: "erp",
          status: "mapped",
          externalFieldName: null,
          externalValue: "EU",
          collision: false,
        },
      ],
    },
  ),
  example("reading 6: null gives no row and leaves its ordinal free; an empty string gives one", {
    values: given(["v1", null, "", "v2"]),
    mappedValues: [
      { ordinal: 0, status: "mapped" },
      { ordinal: 2, status: "unknown_value", valueId: null, value: "" },
      { ordinal: 3, status: "mapped" },
    ],
    payloads: { crm: '{"Region":["EU","Asia-Pacific"]}' },
  }),
  example("reading 6: an empty string can be a value ID or the text of one", {
    fields: [field({ selectValues: [offered("v1", "")], mappings: [to({ v1: "none given" })] })],
    values: given([""]),
    mappedValues: [{ status: "mapped", valueId: "v1", value: "", matchedByText: true }],
    payloads: { crm: '{"Region":["none given"]}' },
  }),
  example("reading 6: an item without values gives nothing", { values: given([null]) }),
  example("reading 7: a payload has a key only where there is a mapped value", {
    fields: [
      field({ mappings: [to({ v1: "EU" })] }),
      field({
        customFieldId: "f2",
        mappings: [to({ v1: "EU" }, { mappingId: "m2", externalFieldName: "Territory" })],
      }),
    ],
    values: [...given(["v2"]), ...given(["v1"], { customFieldId: "f2" })],
    mappedValues: [{ status: "unmapped" }, { status: "mapped" }],
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
        { destinationId: "crm", destinationUnsupported: false, ambiguous: false },
        { destinationId: "erp", destinationUnsupported: true, status: "mapped" },
        { destinationId: "known by ID", destinationUnsupported: null, status: "mapped" },
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
      { destinationId: "crm", ambiguous: false, collision: false },
      { destinationId: "other", ambiguous: false, collision: false },
    ],
    payloads: { crm: '{"Region":["EU"]}', other: '{"Region":["EUROPE"]}' },
  }),
  example("reading 11: a value ID shows the definition's value, not what another view of the item says", {
    values: given(["v1"], { text: "an older text" }),
    mappedValues: [{ value: "emea" }],
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
      { externalFieldName: "Region", externalValue: "EU", collision: false },
      { externalFieldName: "Gebiet", externalValue: "Europa", collision: false },
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
      { status: "no_value_mapping", valueId: null, value: "file-1" },
      { status: "mapped", valueId: "5", externalValue: "V" },
      { status: "no_value_mapping", value: '{"a":[1]}' },
    ],
    payloads: { crm: '{"Odd":["{\\"a\\":[1]}"],"Region":["file-1"],"Roman":["V"]}' },
  }),
];
