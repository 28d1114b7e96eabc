/** In the place of a user, whatever a service sends there: nothing of a person is left. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { fullItem } from "../../src/api/full.ts";
import { type UserField, userFields } from "../../src/api/user.ts";
import { isObject, type JsonObject } from "../../src/common/json.ts";
import type { Shape } from "../../src/raw/document.ts";
import { Drift } from "../../src/raw/drift.ts";
import { personalHash } from "../../src/raw/personal/policy.ts";
import { documentPreparer, type PrepareSettings } from "../../src/raw/prepare.ts";
import { many } from "../long.ts";
import { DROP, HASH, HASH_KEY, KEEP } from "../policies.ts";
import fc from "../properties.ts";
import { FIELD_IDS, richWorld } from "../transform/rich.ts";

const OPTIONS: Readonly<Record<"drop" | "hash" | "keep", PrepareSettings>> = {
  drop: DROP,
  hash: HASH,
  keep: KEEP,
};
const SHAPES: readonly Shape[] = ["dynamic", "full"];
const SPECIFIED = { dynamic: userFields(dynamicItem), full: userFields(fullItem) } as const;
const PLACES = [...SPECIFIED.dynamic, ...SPECIFIED.full];
const NEEDLE = "Jane Needle-7f3a";

/** A document as it is after the policy, with what the drift says of it, as one text. */
function left(document: JsonObject, shape: Shape, policy: keyof typeof OPTIONS) {
  const drift = new Drift();
  const copy = structuredClone(document);
  documentPreparer(OPTIONS[policy])(shape, copy, { order: 1, contentId: "i" }, drift);
  return { document: copy, text: JSON.stringify([copy, drift.sorted()]) };
}

/** Puts a value in the place, below what a document has on the way to it. */
function put(root: JsonObject, { path }: UserField, value: unknown): void {
  let at: unknown = root;
  for (const [index, step] of path.entries()) {
    const key = step === "[]" ? 0 : step === "{}" ? FIELD_IDS.file : step;
    assert.ok(typeof at === "object" && at !== null);
    const next = path[index + 1];
    if (next === undefined) Reflect.set(at, key, value);
    else if (next === "[]" ? !Array.isArray(Reflect.get(at, key)) : !isObject(Reflect.get(at, key)))
      Reflect.set(at, key, next === "[]" ? [] : {});
    at = Reflect.get(at, key);
  }
}

const name = fc.constantFrom(
  "name",
  "display_name",
  "label",
  "email",
  "full",
  "anything",
  "title",
  "user",
  "tz",
  "id",
  "role",
);
/** An object that has the needle somewhere in it, under any names. */
const { described } = fc.letrec<{ described: JsonObject; inner: unknown }>((tie) => ({
  described: fc
    .tuple(fc.option(fc.constant("u1"), { nil: undefined }), name, tie("inner"))
    .map(([id, key, inner]) => ({ ...(id !== undefined && { id }), [key]: inner })),
  inner: fc.oneof(
    { maxDepth: 3 },
    fc.constant({ text: NEEDLE }),
    fc.constant([{ name: NEEDLE }]),
    tie("described"),
    fc.array(tie("described"), { minLength: 1, maxLength: 2 }),
  ),
}));
const sent = fc.oneof(
  described,
  fc.constant({ id: "u1", name: NEEDLE }),
  fc.constant({ id: "u1", email: `${NEEDLE}@example.com`, name: NEEDLE }),
  fc.array(described, { minLength: 1, maxLength: 2 }),
  fc.array(fc.array(described, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }),
  fc.tuple(fc.constant("u2"), described),
);

describe("in every place where the contract has a user", () => {
  test("the contract has users in at least these, and in every field that is said to hold a user ID", () => {
    const paths = PLACES.map(({ path }) => path.join("."));
    for (const path of [
      "acl.user_ids.[]",
      "assignee_id",
      "author",
      "author_details",
      "creator",
      "creator_details",
      "creator_id",
      "currently_editing.[]",
      "custom_field_values.{}.uploaded_by",
      "favorited_by_users.[]",
      "last_updated_by",
      "last_updated_by_details",
      "next_task.owner_ids.[]",
      "next_task_owner.[]",
      "owner",
      "owner_details",
    ])
      assert.ok(paths.includes(path), path);
    const said = [...describedAs(dynamicItem, /\bUser IDs?\b/), ...describedAs(fullItem, /\bUser IDs?\b/)];
    assert.ok(said.length >= 10);
    const unmarked = said.filter(
      (path) => !paths.some((place) => path.startsWith(place) || place.startsWith(path)),
    );
    assert.deepEqual(unmarked, []);
  });

  for (const policy of ["drop", "hash"] as const) {
    test(`an object or a list leaves nothing of a person, in any shape: ${policy}`, () => {
      fc.assert(
        fc.property(fc.constantFrom(...PLACES), fc.constantFrom(...SHAPES), sent, (place, shape, value) => {
          const world = richWorld()[shape];
          put(world, place, value);
          assert.ok(left(world, shape, "keep").text.includes(NEEDLE));
          assert.ok(!left(world, shape, policy).text.includes(NEEDLE), `${shape} ${place.path.join(".")}`);
        }),
        { numRuns: many(300, 20_000) },
      );
    });
  }

  test("a text is the user's ID, in lists too, and what describes the user keeps it", () => {
    for (const shape of SHAPES) {
      for (const place of SPECIFIED[shape].filter(({ kind }) => kind === "id")) {
        for (const value of ["u1", { id: "u1" }, ["u1", { id: "u1", tz: "UTC" }]]) {
          const world = richWorld()[shape];
          put(world, place, value);
          assert.deepEqual(valueAt(left(world, shape, "drop").document, place), value, place.path.join("."));
        }
      }
    }
  });

  test("with hash, both the e-mail address and the name beside it are hashed", () => {
    const author = { id: "u1", email: "Jane@Example.com", name: "Jane", tz: "UTC", team: { name: "Jane" } };
    assert.deepEqual(left({ id: "i", author }, "dynamic", "hash").document, {
      id: "i",
      author: {
        id: "u1",
        email: personalHash(HASH_KEY, "email", "jane@example.com"),
        name: personalHash(HASH_KEY, "name", "Jane"),
        tz: "UTC",
        team: personalHash(HASH_KEY, "team", '{"name":"Jane"}'),
      },
    });
  });
});

function valueAt(root: unknown, { path }: UserField): unknown {
  let at = root;
  for (const step of path) {
    const key = step === "[]" ? 0 : step === "{}" ? FIELD_IDS.file : step;
    at = isObject(at) || Array.isArray(at) ? Reflect.get(at, key) : undefined;
  }
  return at;
}

/** Paths of the fields whose description is like this. */
function describedAs(schema: z.core.$ZodType, like: RegExp, path: readonly string[] = []): string[] {
  const own = z.globalRegistry.get(schema)?.description ?? "";
  const here = like.test(own) ? [path.join(".")] : [];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return [...here, ...describedAs(schema.unwrap(), like, path)];
  if (schema instanceof z.ZodArray) return [...here, ...describedAs(schema.element, like, [...path, "[]"])];
  if (schema instanceof z.ZodRecord)
    return [...here, ...describedAs(schema.valueType, like, [...path, "{}"])];
  if (schema instanceof z.ZodUnion)
    return [...here, ...schema.options.flatMap((option) => describedAs(option, like, path))];
  if (!(schema instanceof z.ZodObject)) return here;
  const fields = Object.entries(schema.shape);
  return [...here, ...fields.flatMap(([key, field]) => describedAs(field, like, [...path, key]))];
}
