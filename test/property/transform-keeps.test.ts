import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isObject, type JsonObject } from "../../src/common/json.ts";
import { either } from "../long.ts";
import { type Transformed, transform } from "../transform/harness.ts";
import { richWorld, type World } from "../transform/rich.ts";

/**
 * Nothing is dropped silently: whatever stands anywhere in an answer, of whatever kind, is found in some column, or
 * the drift shows it. The document has every API field, and one place of it holds something else than it should.
 */

const MARK = "needle-7f3a";

/** Something that holds the mark, of every kind that JSON has. */
const STRANGE: readonly unknown[] = [
  MARK,
  [MARK],
  { id: MARK },
  { other: MARK },
  [{ id: MARK }],
  [{ other: { deep: [MARK] } }],
  [[MARK], null],
  { [MARK]: { more: 1 } },
];

type Path = readonly (string | number)[];

/** All places below a value. */
function placesBelow(value: unknown, path: Path = []): Path[] {
  const inner: [string | number, unknown][] = Array.isArray(value)
    ? value.map((element, at) => [at, element])
    : isObject(value)
      ? Object.entries(value)
      : [];
  return inner.flatMap(([key, element]) => [[...path, key], ...placesBelow(element, [...path, key])]);
}

/** A copy with another value at a place. */
function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((element, at) => (at === key ? replaced(element, rest, by) : element));
  if (!isObject(value)) return value;
  return { ...value, [key]: replaced(value[key], rest, by) };
}

/** All cases at each place; in the short form so many, and each case at many places. */
function atPlace<Case>(place: number, cases: readonly Case[], short: number): readonly Case[] {
  return either(
    cases.filter((_, at) => (at + place) % cases.length < short),
    cases,
  );
}

function holdsMark({ rows, drift }: Transformed): boolean {
  const shown = (row: object) =>
    Object.values(row).some((cell) => typeof cell === "string" && cell.includes(MARK));
  return (
    [...rows.values()].some((list) => list.some(shown)) ||
    drift.some(({ example }) => example?.includes(MARK))
  );
}

function run(world: Partial<World>): Transformed {
  const { dynamic, full, destination, custom_field_definition } = world;
  return transform(
    [
      [
        ...(dynamic === undefined ? [] : [{ shape: "dynamic" as const, document: dynamic }]),
        ...(full === undefined ? [] : [{ shape: "full" as const, document: full }]),
      ],
    ].filter((answers) => answers.length > 0),
    {
      destinations: destination === undefined ? [] : [destination],
      definitions: custom_field_definition === undefined ? [] : [custom_field_definition],
    },
  );
}

function changed(document: JsonObject, path: Path, by: unknown): JsonObject {
  const copy = replaced(document, path, by);
  return isObject(copy) ? copy : {};
}

describe("whatever stands in a document is found again", () => {
  for (const shape of ["dynamic", "full"] as const) {
    const document = richWorld()[shape];
    // An item without an ID of its own is a reject.
    const places = placesBelow(document).filter(([first]) => first !== "id");

    test(`in place of a value of the ${shape} document`, () => {
      const lost = places.flatMap((path, place) =>
        atPlace(place, STRANGE, 2)
          .filter((value) => !holdsMark(run({ [shape]: changed(document, path, value) })))
          .map((value) => describeLoss(path, value)),
      );
      assert.deepEqual(lost, []);
    });

    test(`as a further field of an object of the ${shape} document`, () => {
      const lost: string[] = [];
      const objects = [[], ...places].filter((path) => isObject(at(document, path)));
      for (const [place, path] of objects.entries()) {
        for (const name of atPlace(place, NAMES, 3)) {
          const object = at(document, path);
          const wider = { ...(isObject(object) && object), ...named(name, { deep: [MARK] }) };
          if (!holdsMark(run({ [shape]: changed(document, path, wider) })))
            lost.push(describeLoss([...path, name], wider));
        }
      }
      assert.deepEqual(lost, []);
    });
  }
});

function describeLoss(path: Path, value: unknown): string {
  return `${path.join(".")} <- ${JSON.stringify(value).slice(0, 80)}`;
}

/** Names that nothing knows, and that trip whoever uses objects for maps. */
const NAMES = [
  "invented",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "",
  "a.b",
  "[]",
  "\u0000extra",
  "extra",
];

/** An object with one field, also where its name is `__proto__`. */
function named(name: string, value: unknown): JsonObject {
  return Object.fromEntries([[name, value]]);
}

function at(value: unknown, path: Path): unknown {
  return path.reduce(
    (inner: unknown, key) => (isObject(inner) || Array.isArray(inner) ? Reflect.get(inner, key) : undefined),
    value,
  );
}

test("whatever stands in an answer of a lookup, where its shape lets it, is found again", () => {
  const { destination, custom_field_definition } = richWorld();
  const answers = { destination, custom_field_definition };
  for (const name of NAMES) {
    for (const [resource, answer] of Object.entries(answers)) {
      for (const path of [[], ...placesBelow(answer)].filter((each) => isObject(at(answer, each)))) {
        const object = at(answer, path);
        const wider = isObject(object) ? { ...object, ...named(name, MARK) } : object;
        assert.ok(
          holdsMark(run({ [resource]: changed(answer, path, wider) })),
          `${resource}: ${[...path, name].join(".")}`,
        );
      }
    }
  }
});

test("no answer changes what every object has", () => {
  const before = Object.getOwnPropertyNames(Object.prototype).sort();
  for (const name of NAMES) {
    for (const path of [
      [],
      ["acl"],
      ["custom_fields"],
      ["custom_field_values"],
      ["field_locks"],
      ["author_details"],
    ]) {
      const object = at(richWorld().dynamic, path);
      const hostile = {
        ...(isObject(object) ? object : {}),
        ...named(name, { polluted: MARK, isAdmin: true }),
      };
      run({ dynamic: changed(richWorld().dynamic, path, hostile) });
    }
  }
  const plain: Record<string, unknown> = {};
  assert.deepEqual([plain.polluted, plain.isAdmin], [undefined, undefined]);
  assert.deepEqual(Object.getOwnPropertyNames(Object.prototype).sort(), before);
});
