import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { long } from "../long.ts";
import { exportFrom, type Row, rowsOf, temporaryFolder } from "../run/running.ts";
import { item, listBody, Scripted } from "../run/scripted.ts";

/** A run over items of which one is sent as this JSON text, between two plain ones. */
async function runWith(t: TestContext, text: string): Promise<string> {
  const service = await Scripted.start(t, [item("c-000", 1), item("c-hostile", 1), item("c-002", 1)]);
  service.script = (question) => {
    if (question.kind !== "list") return undefined;
    const body = JSON.stringify(listBody(service.items, question));
    return { body: body.replace(JSON.stringify(item("c-hostile", 1)), () => text) };
  };
  const out = await temporaryFolder(t);
  const { directory, verdict, accounting } = await exportFrom({ url: service.url, out });
  assert.deepEqual([verdict, accounting.loaded], ["complete", 3]);
  return directory;
}

async function hostile(directory: string, columns: string): Promise<Row | undefined> {
  return (await rowsOf(directory, `SELECT ${columns} FROM content WHERE content_id = 'c-hostile'`))[0];
}

/** The extra fields of the item, as their JSON text. */
async function extra(directory: string): Promise<string> {
  return String((await hostile(directory, "extra::VARCHAR"))?.[0]);
}

test("C2, C12: keys that are names of code are data", async (t) => {
  const keys = [
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "",
    'a"; DROP TABLE content; --',
    "line\nbreak",
    "nul\u0000",
  ];
  const members = keys.map((key, index) => `${JSON.stringify(key)}: {"polluted": ${index}}`);
  const directory = await runWith(t, `{"id": "c-hostile", "title": "T", ${members.join(", ")}}`);
  const found = JSON.parse(await extra(directory));
  for (const [index, key] of keys.entries()) {
    assert.deepEqual(Object.getOwnPropertyDescriptor(found, key)?.value, { polluted: index }, key);
  }
  assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
  assert.deepEqual(await hostile(directory, "title"), ["T"]);
});

test("C3, C4: numbers that a double would alter stay as they were sent, in columns that cannot hold them too", async (t) => {
  const numbers = {
    wordcount: "9007199254740993",
    large: "12345678901234567890123",
    huge: "1e400",
    tiny: "1e-999",
  };
  const members = Object.entries(numbers).map(([key, number]) => `"${key}": ${number}`);
  const directory = await runWith(t, `{"id": "c-hostile", "title": 1e400, ${members.join(", ")}}`);
  assert.deepEqual(await hostile(directory, "wordcount, title"), ["9007199254740993", null]);
  const kept = await extra(directory);
  for (const text of ["12345678901234567890123", '"title":1e400', '"huge":1e400', '"tiny":1e-999']) {
    assert.ok(kept.includes(text), `${text} is not in ${kept}`);
  }
});

test("C6, C7, C17: texts are stored as they are, whatever they would do elsewhere", async (t) => {
  const texts = [
    "nul \u0000 in the middle",
    "line\u2028and paragraph\u2029separators",
    "right \u202e to left",
    "<script>alert(1)</script>",
    "=HYPERLINK(1)",
    "\u001b]0;title\u0007",
    "long ".repeat(200_000),
    "\u{1f3d4} mountains",
  ];
  const document = { ...item("c-hostile", 1), title: texts[0], tags: texts };
  const directory = await runWith(t, JSON.stringify(document));
  assert.deepEqual(await hostile(directory, "title"), [texts[0]]);
  const tags = "SELECT tag FROM content_tags WHERE content_id = 'c-hostile' ORDER BY ordinal";
  assert.deepEqual(
    (await rowsOf(directory, tags)).map(([tag]) => tag),
    texts,
  );
});

long("C8: of a key that stands twice in an object the last one counts", async (t) => {
  const directory = await runWith(t, '{"id": "c-hostile", "title": "first", "title": "last"}');
  assert.deepEqual(await hostile(directory, "title"), ["last"]);
});

long("C11: very many keys, and very long ones, are kept", async (t) => {
  const many = Array.from({ length: 20_000 }, (_, index) => `"key_${index}": ${index}`);
  const long = "k".repeat(10_000);
  const directory = await runWith(t, `{"id": "c-hostile", "title": "T", "${long}": 1, ${many.join(", ")}}`);
  const found = JSON.parse(await extra(directory));
  assert.equal(Object.keys(found).length, 20_001);
  assert.deepEqual([found[long], found.key_19999], [1, 19_999]);
});

long(
  "C16: an instant that does not exist, or that no reader has, is NULL in its column and kept beside it",
  async (t) => {
    const others = {
      created_at: "2026-02-30T10:00:00Z",
      assigned_date: "0000-01-01T00:00:00Z",
      completed_date: "9999-12-31T23:59:59-00:01",
    };
    const document = { id: "c-hostile", title: "T", published_date: "0000-12-31T23:00:00-01:00", ...others };
    const directory = await runWith(t, JSON.stringify(document));
    assert.deepEqual(await hostile(directory, "created_at, assigned_date, completed_date, title"), [
      null,
      null,
      null,
      "T",
    ]);
    assert.deepEqual(await hostile(directory, "epoch(published_date)::VARCHAR"), ["-62135596800.0"]);
    assert.deepEqual(JSON.parse(await extra(directory)), others);
  },
);
