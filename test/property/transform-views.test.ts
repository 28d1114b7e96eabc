import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../properties.ts";
import { type Answer, onlyRow, rowsOf, transform } from "../transform/harness.ts";

/** The answers about an item become the row that a plain reading of the rules gives, however many and in any order. */

const ABSENT = Symbol("absent");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.oneof(fc.constant(ABSENT), value);

const instants = [
  "2026-03-01T09:30:12Z",
  "2026-03-01T09:30:12.5Z",
  "2026-03-01T09:30:12.123456Z",
  "2026-03-01T09:30:13Z",
  "2026-03-01T09:30:13.25Z",
  "2026-02-30T09:30:12Z",
  "soon",
];

const answer = fc.record({
  shape: fc.constantFrom<Answer["shape"]>("dynamic", "full"),
  title: maybe(fc.constantFrom(null, "", "a", "b")),
  content: maybe(fc.constantFrom(null, "", "text")),
  updated_at: maybe(fc.constantFrom(null, ...instants)),
  tags: maybe(fc.constantFrom(null, [], ["a"], ["a", null, "b"])),
  novelty: maybe(fc.constantFrom(1, "one")),
});

type Facts = Omit<typeof answer extends fc.Arbitrary<infer T> ? T : never, "shape">;

/** What the answers give of one fact, the latest first. */
function given<Name extends keyof Facts>(
  answers: readonly Facts[],
  name: Name,
): Exclude<Facts[Name], symbol>[] {
  const values = answers.toReversed().map((each) => each[name]);
  return values.filter((value): value is Exclude<Facts[Name], symbol> => value !== ABSENT);
}

/** Where empty text is the default, null and empty text are one: NULL, where any answer says null. */
function expectedContent(answers: readonly Facts[]): string | null {
  const values = given(answers, "content");
  const [latest = null] = values;
  if (latest === "" && values.includes(null)) return null;
  return latest;
}

/** The finest of the instants that agree with the latest to the second; text that is no instant is no instant. */
function expectedInstant(answers: readonly Facts[]): { micros: bigint | null; text: string | null } {
  const [latest = null, ...earlier] = given(answers, "updated_at");
  if (latest === null) return { micros: null, text: null };
  if (!isInstant(latest)) return { micros: null, text: latest };
  const agreeing = earlier.filter(
    (text) => text !== null && isInstant(text) && text.slice(0, 19) === latest.slice(0, 19),
  );
  const finest = [latest, ...agreeing].reduce((a, b) => ((b?.length ?? 0) > (a?.length ?? 0) ? b : a));
  const fraction = (/\.(\d+)Z/.exec(finest ?? "")?.[1] ?? "").padEnd(6, "0");
  return { micros: BigInt(Date.parse(`${latest.slice(0, 19)}Z`)) * 1000n + BigInt(fraction), text: null };
}

function isInstant(text: string): boolean {
  return text !== "soon" && !text.startsWith("2026-02-30");
}

/** Of what an answer says something else than the latest: `path kind`. By texts, of which one is as good as itself. */
function expectedDifferences(answers: readonly Facts[]): string[] {
  const times = given(answers, "updated_at").filter((text) => text !== null);
  const kind = new Set(times.map((text) => text.slice(0, 19))).size > 1 ? "versions_differ" : "views_differ";
  const differs = (texts: readonly string[]) => new Set(texts).size > 1;
  const found = [
    differs(given(answers, "content").map((text) => text || "")) && `content.content ${kind}`,
    differs(given(answers, "title").map((text) => JSON.stringify(text))) && `content.title ${kind}`,
    differs(given(answers, "updated_at").map((text) => text?.slice(0, 19) ?? "")) &&
      "content.updated_at views_differ",
    differs(given(answers, "tags").map((tags) => JSON.stringify(tags ?? []))) && `content_tags ${kind}`,
    differs(given(answers, "novelty").map(String)) && "novelty views_differ",
  ];
  return found.filter((each) => each !== false);
}

test("E6: columns, lists and unknown fields follow the rules of merging", () => {
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 5 }), (answers) => {
      const made = transform([
        answers.map(({ shape, ...facts }) => {
          const members = Object.entries(facts).filter(([, value]) => value !== ABSENT);
          return { shape, document: { id: "i", ...Object.fromEntries(members) } };
        }),
      ]);
      const row = onlyRow(made, "content");
      assert.equal(row.title, given(answers, "title")[0] ?? null);
      assert.equal(row.content, expectedContent(answers));
      const { micros, text } = expectedInstant(answers);
      assert.equal(row.updated_at === null ? null : BigInt(row.updated_at ?? 0), micros);
      const novelty = given(answers, "novelty")[0];
      const extra = { ...(text !== null && { updated_at: text }), ...(novelty !== undefined && { novelty }) };
      assert.deepEqual(JSON.parse(String(row.extra ?? "{}")), extra);
      assert.deepEqual(
        rowsOf(made, "content_tags").map(({ tag }) => tag),
        given(answers, "tags")[0] ?? [],
      );
      const differing = made.drift.filter(({ kind }) => kind.endsWith("_differ"));
      assert.deepEqual(
        differing.map(({ path, kind }) => `${path} ${kind}`),
        expectedDifferences(answers),
      );
    }),
    { numRuns: 1000 },
  );
});
