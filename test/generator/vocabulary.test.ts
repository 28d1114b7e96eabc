import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { CustomField } from "../../src/service/content-set.ts";
import { makePlan } from "./plan.ts";
import { bulk, sample } from "./profile.ts";
import type { FieldWords } from "./vocabulary.ts";
import { tarnbrook } from "./vocabulary.ts";

const BODY_TYPES = [
  ..."any_file audio document automation_a_email automation_a_landing_page event social_a".split(" "),
  ..."doc_provider_doc html social_b automation_b_email automation_b_landing_page no_body".split(" "),
  ..."automation_c_email photo social_media social_c video webinar".split(" "),
];

function displays({ values = [] }: FieldWords): string[] {
  return values.map((value) => (typeof value === "string" ? value : value.display));
}

suite("the vocabulary agrees with itself", () => {
  const { fields, topics, types, titles, campaigns, translations, places } = bulk.vocabulary;
  const topicNames = new Set(topics.map(({ name }) => name));
  const typeKeys = new Set(types.map(({ key }) => key));

  test("a mapping names values of its field; one names a value that was deleted", () => {
    const strangers = fields.flatMap((field) =>
      (field.mappings ?? []).flatMap(({ values = {} }) =>
        Object.keys(values).filter((display) => !displays(field).includes(display)),
      ),
    );
    assert.deepEqual(strangers, ["Spring/Summer 2024"]);
  });

  test("what a topic prefers are values of a select field", () => {
    for (const { name, prefers } of topics) {
      for (const [field, wanted] of Object.entries(prefers)) {
        const known = fields.filter((one) => one.name === field).flatMap(displays);
        assert.deepEqual(
          wanted.filter((display) => !known.includes(display)),
          [],
          `${name}, ${field}`,
        );
      }
    }
  });

  test("topics, types and places that are named exist", () => {
    const named = [...types.flatMap((type) => type.topics ?? []), ...campaigns.flatMap((one) => one.topics)];
    const unknown = [...named, ...translations.map(({ topic }) => topic)].filter(
      (name) => !topicNames.has(name),
    );
    assert.deepEqual(unknown, []);
    const carried = [...fields.flatMap((field) => field.types ?? []), ...Object.keys(titles)];
    assert.deepEqual(
      carried.filter((key) => !typeKeys.has(key)),
      [],
    );
    assert.deepEqual(
      sample.firstTypes.filter((key) => !typeKeys.has(key)),
      [],
    );
    const placeNames = places.map(({ name }) => name);
    assert.deepEqual(
      translations.filter(({ place }) => !placeNames.includes(place)),
      [],
    );
  });

  test("a region's place is a value of the field region", () => {
    const regions = fields.filter(({ name }) => name === "region").flatMap(displays);
    assert.deepEqual(
      places.filter(({ region }) => !regions.includes(region)),
      [],
    );
  });

  test("products of a subject are products of its topic", () => {
    for (const { products, subjects } of topics) {
      const strangers = subjects
        .flatMap((subject) => subject.products ?? [])
        .filter((name) => !products.includes(name));
      assert.deepEqual(strangers, []);
    }
  });
});

suite("the definitions that every generated set has", () => {
  const plan = makePlan(bulk, 10, 1);
  const fields = plan.fields.map(({ field }) => field);
  const mappings = fields.flatMap((field) => field.mappings.map((mapping) => ({ ...mapping, field })));
  const known = new Set(plan.destinations.map(({ id }) => id));
  const entries = mappings.flatMap((mapping) => mapping.values.map((entry) => ({ ...entry, mapping })));
  const places = (field: CustomField) => field.mappings.map(({ external_site_id }) => external_site_id);
  const repeats = (all: readonly unknown[]) => new Set(all).size < all.length;
  const values = fields.flatMap((field) =>
    (field.formatted_select_values ?? []).map((value) => ({ ...value, field })),
  );

  const hold = (what: string, holds: boolean) => test(what, () => assert.ok(holds));

  test("a content type for each body type of the specification", () => {
    assert.deepEqual([...new Set(plan.types.map(({ type }) => type.body_type))].sort(), BODY_TYPES.sort());
  });

  test("fields of every named type, of number and currency, and of types that nobody knows", () => {
    const types = [...new Set(fields.map(({ field_type }) => field_type))].sort();
    const wanted = "checkbox currency date file image multiselect number rating select text".split(" ");
    assert.deepEqual(types, wanted);
  });

  test("two external destinations that support mappings, and one that does not", () => {
    const kinds = plan.destinations.map((one) => [one.platform, one.supports_custom_field_mappings]);
    assert.deepEqual(kinds, [
      ["External", true],
      ["External", true],
      ["Archive", false],
    ]);
  });

  hold("two definitions of one name", repeats(fields.map(({ name }) => name)));
  hold(
    "two names that differ in case alone",
    fields.some(({ name }) => name !== "region" && name.toLowerCase() === "region"),
  );
  hold(
    "a field that is named as a column",
    fields.some(({ name }) => name === "title"),
  );
  hold(
    "two mappings of a field for a destination",
    fields.some((field) => repeats(places(field))),
  );
  hold(
    "two fields mapped to one external name",
    mappings.some((one) =>
      mappings.some(
        (other) =>
          other.field !== one.field &&
          other.external_site_id === one.external_site_id &&
          other.field_name === one.field_name,
      ),
    ),
  );
  hold(
    "a mapping to a destination that is not in the set",
    mappings.some((one) => !known.has(one.external_site_id)),
  );
  hold(
    "a mapping to a destination that supports none",
    mappings.some((one) =>
      plan.destinations.some((to) => to.id === one.external_site_id && !to.supports_custom_field_mappings),
    ),
  );
  hold(
    "a mapping without entries",
    mappings.some(({ field, values }) => field.formatted_select_values && values.length === 0),
  );
  hold(
    "a mapping of a field that has no values",
    mappings.some(({ field }) => !field.formatted_select_values),
  );
  hold(
    "two entries for one value",
    mappings.some((one) => repeats(one.values.map(({ value_id }) => value_id))),
  );
  hold(
    "one external value for two values",
    mappings.some((one) => repeats(one.values.map(({ value }) => value))),
  );
  hold(
    "an empty external value",
    entries.some(({ value }) => value === ""),
  );
  hold(
    "an entry for a value that was deleted",
    entries.some(({ value_id }) => !values.some(({ id }) => id === value_id)),
  );
  hold(
    "a value without an entry",
    mappings.some(({ field, values }) => (field.formatted_select_values ?? []).length > values.length),
  );
  hold(
    "an archived value",
    values.some(({ archived }) => archived),
  );
  hold(
    "a value that is not as it is displayed",
    values.some(({ value, display }) => value !== display),
  );
  hold(
    "two values displayed alike",
    fields.some((field) => repeats((field.formatted_select_values ?? []).map((one) => one.display))),
  );
  hold(
    "a select field without values",
    fields.some((field) => field.formatted_select_values?.length === 0),
  );
  hold(
    "a user with empty details",
    plan.users.some((user) => user.avatar_feed_url === "" && user.bio === ""),
  );
  hold(
    "a user who has left",
    plan.users.some(({ removed }) => removed),
  );

  test("IDs that are unique and say nothing", () => {
    const ids = [
      ...fields.map(({ id }) => id),
      ...values.map(({ id }) => id),
      ...mappings.map(({ id }) => id),
      ...entries.map(({ id }) => id),
      ...plan.users.map(({ id }) => id),
      ...plan.types.map(({ type }) => type.id),
      ...plan.campaigns.map(({ campaign }) => campaign.id),
      ...plan.destinations.map(({ id }) => id),
    ];
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(
      ids.filter((id) => !/^[0-9a-f]{24}$/.test(id)),
      [],
    );
  });

  test("more people for more items, slowly", () => {
    const people = [500, 1_000_000].map((items) => makePlan(bulk, items, 1).users.length);
    assert.deepEqual(people, [51, 64]);
    assert.equal(makePlan(sample, 500, 1).users.length, tarnbrook.people.length);
  });
});
