import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { BASIC_FIELDS, basicItem } from "../../src/api/basic.ts";
import { customFieldDefinition } from "../../src/api/custom-field.ts";
import { destination } from "../../src/api/destination.ts";
import {
  DYNAMIC_COLUMN_NAMES,
  DYNAMIC_COLUMNS,
  dynamicItem,
  isDynamicColumn,
} from "../../src/api/dynamic.ts";
import { listEnvelope } from "../../src/api/envelope.ts";
import { type ItemField, NO_DEFAULT } from "../../src/api/field.ts";
import { FULL_FIELDS, fullItem } from "../../src/api/full.ts";

const resource = z.enum(["destination", "custom_field_definition", "envelope", "basic", "full", "dynamic"]);
const specification = z.array(
  z.strictObject({
    resource,
    path: z.string(),
    type: z.string(),
    default: z.string().optional(),
    gallery_only: z.literal(true).optional(),
    single_item_only: z.literal(true).optional(),
    event_type_only: z.literal(true).optional(),
    default_set: z.literal(true).optional(),
  }),
);
type SpecifiedField = z.infer<typeof specification>[number];

const fields = specification.parse(
  JSON.parse(readFileSync(new URL("../fixtures/fields.json", import.meta.url), "utf8")),
);

const schemas: Record<z.infer<typeof resource>, z.ZodObject> = {
  destination,
  custom_field_definition: customFieldDefinition,
  envelope: listEnvelope(dynamicItem),
  basic: basicItem,
  full: fullItem,
  dynamic: dynamicItem,
};

/** `field_locks.body.locked` is an example of a record: `body` is one of its keys. */
function segments(path: string): string[] {
  return path.replaceAll("[]", ".[]").split(".");
}

function step(schema: z.core.$ZodType, segment: string): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return step(schema.unwrap(), segment);
  if (schema instanceof z.ZodUnion)
    return schema.options.map((option) => step(option, segment)).find(Boolean);
  if (schema instanceof z.ZodArray) return segment === "[]" ? schema.element : undefined;
  if (schema instanceof z.ZodRecord) return schema.valueType;
  if (schema instanceof z.ZodObject) return schema.shape[segment];
  return undefined;
}

function reach({ resource, path }: SpecifiedField): z.core.$ZodType | undefined {
  return segments(path).reduce<z.core.$ZodType | undefined>(
    (schema, segment) => (schema === undefined ? undefined : step(schema, segment)),
    schemas[resource],
  );
}

type FieldDefault = ItemField["default"];

function specifiedDefault({ path, default: written = "none" }: SpecifiedField): FieldDefault {
  if (path === "gallery_share_settings")
    return ["published_url", "tracking_url", "email", "social_a", "social_b", "social_c"];
  // The compatibility columns have the text `none` as their default; elsewhere "none" means that there is no default.
  if (path.endsWith("viewer_compatibility")) return written;
  if (written === "none") return NO_DEFAULT;
  if (written === "empty string") return "";
  const literals: Record<string, FieldDefault> = {
    null: null,
    true: true,
    false: false,
    "0": 0,
    "[]": [],
    "{}": {},
  };
  const literal = literals[written];
  return literal === undefined ? written : literal;
}

function defaultsOf(fields: Readonly<Record<string, ItemField>>): Readonly<Record<string, FieldDefault>> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default]));
}

function ofResource(name: SpecifiedField["resource"]): SpecifiedField[] {
  return fields.filter(
    (field) => field.resource === name && field.type !== "nested" && !field.path.includes("["),
  );
}

test("every API field of the specification has a place in the contract", () => {
  const missing = fields.filter((field) => reach(field) === undefined).map((f) => `${f.resource}: ${f.path}`);
  assert.deepEqual(missing, []);
});

test("the registry names exactly the dynamic columns of the specification, in its order but for status", () => {
  const specified = ofResource("dynamic").map((field) => field.path);
  assert.deepEqual(DYNAMIC_COLUMN_NAMES, specified);
  assert.deepEqual(Object.keys(dynamicItem.shape), specified);
});

test("defaults, default set and gating of the dynamic columns are the specification's", () => {
  for (const field of ofResource("dynamic")) {
    assert.ok(isDynamicColumn(field.path));
    const { schema, changesWithoutEdit, ...sent } = DYNAMIC_COLUMNS[field.path];
    assert.deepEqual(
      sent,
      {
        default: field.path === "status" ? null : specifiedDefault(field),
        defaultSet: field.default_set ?? false,
        galleryOnly: field.gallery_only ?? false,
        singleItemOnly: field.single_item_only ?? false,
        // The specification marks only the end of an event; its start belongs to an event as well.
        eventOnly: field.event_type_only ?? field.path === "event_start_date",
      },
      field.path,
    );
  }
});

test("defaults of basic and full are the specification's", () => {
  const basic = Object.fromEntries(ofResource("basic").map((field) => [field.path, specifiedDefault(field)]));
  assert.deepEqual(defaultsOf(BASIC_FIELDS), basic);
  const full = Object.fromEntries(ofResource("full").map((field) => [field.path, specifiedDefault(field)]));
  assert.deepEqual(defaultsOf(FULL_FIELDS), full);
});

test("a default is a value that its own schema takes", () => {
  for (const fields of [DYNAMIC_COLUMNS, BASIC_FIELDS, FULL_FIELDS]) {
    for (const [name, { schema, default: fallback }] of Object.entries<ItemField>(fields)) {
      if (fallback !== NO_DEFAULT) assert.ok(schema.safeParse(fallback).success, name);
    }
  }
});

test("an item needs nothing but its ID, and keeps what the contract does not know", () => {
  for (const schema of [basicItem, fullItem, dynamicItem]) {
    assert.deepEqual(schema.parse({ id: "c1", sentiment: { score: 3 } }), {
      id: "c1",
      sentiment: { score: 3 },
    });
    assert.ok(!schema.safeParse({ title: "no ID" }).success);
  }
});
