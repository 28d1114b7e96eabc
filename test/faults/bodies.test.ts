/** One run over items whose JSON texts are hostile: all are loaded, and nothing is altered. */
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { removeTree } from "../../src/common/tree.ts";
import { exportFrom, type Row, rowsOf } from "../run/running.ts";
import { item, listBody, Scripted } from "../run/scripted.ts";

const CODE_NAMES = [
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
const TEXTS = [
  "nul \u0000 in the middle",
  "line\u2028and paragraph\u2029separators",
  "right \u202e to left",
  "<script>alert(1)</script>",
  "=HYPERLINK(1)",
  "\u001b]0;title\u0007",
  "long ".repeat(200_000),
  "\u{1f3d4} mountains",
];
const LONG_KEY = "k".repeat(10_000);
const IMPOSSIBLE = {
  created_at: "2026-02-30T10:00:00Z",
  assigned_date: "0000-01-01T00:00:00Z",
  completed_date: "9999-12-31T23:59:59-00:01",
};
const pairs = (entries: readonly string[]) => `{"title": "T", ${entries.join(", ")}}`;

/** By the item's ID, its JSON text but for the ID. */
const BODIES: Readonly<Record<string, string>> = {
  code: pairs(CODE_NAMES.map((key, index) => `${JSON.stringify(key)}: {"polluted": ${index}}`)),
  numbers:
    '{"title": 1e400, "wordcount": 9007199254740993, "large": 12345678901234567890123, "huge": 1e400, "tiny": 1e-999}',
  texts: JSON.stringify({ title: TEXTS[0], tags: TEXTS }),
  twice: '{"title": "first", "title": "last"}',
  many: pairs([
    `"${LONG_KEY}": 1`,
    ...Array.from({ length: 20_000 }, (_, index) => `"key_${index}": ${index}`),
  ]),
  instants: JSON.stringify({ title: "T", published_date: "0000-12-31T23:00:00-01:00", ...IMPOSSIBLE }),
};

suite("hostile items between plain ones", () => {
  let folder: string;
  let directory: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "bodies-"));
    const items = [item("c-000", 1), ...Object.keys(BODIES).map((id) => item(id, 1)), item("c-002", 1)];
    const service = new Scripted(items);
    await service.listen();
    service.script = (question) => {
      if (question.kind !== "list") return undefined;
      let body = JSON.stringify(listBody(service.items, question));
      for (const [id, text] of Object.entries(BODIES))
        body = body.replace(JSON.stringify(item(id, 1)), () => `{"id": "${id}", ${text.slice(1)}`);
      return { body };
    };
    const summary = await exportFrom({ url: service.url, out: folder });
    service.close();
    assert.deepEqual([summary.verdict, summary.items.loaded], ["complete", items.length]);
    directory = summary.directory;
  });

  after(() => removeTree(folder));

  async function content(id: string, columns: string): Promise<Row | undefined> {
    return (await rowsOf(directory, `SELECT ${columns} FROM content WHERE content_id = '${id}'`))[0];
  }

  /** The extra fields of an item, as their JSON text. */
  async function extra(id: string): Promise<string> {
    return String((await content(id, "extra::VARCHAR"))?.[0]);
  }

  test("C2, C12: keys that are names of code are data", async () => {
    const found = JSON.parse(await extra("code"));
    for (const [index, key] of CODE_NAMES.entries())
      assert.deepEqual(Object.getOwnPropertyDescriptor(found, key)?.value, { polluted: index }, key);
    assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
    assert.deepEqual(await content("code", "title"), ["T"]);
  });

  test("C3, C4: numbers that a double would alter stay as they were sent, in columns that cannot hold them too", async () => {
    assert.deepEqual(await content("numbers", "wordcount, title"), ["9007199254740993", null]);
    const kept = await extra("numbers");
    for (const text of ["12345678901234567890123", '"title":1e400', '"huge":1e400', '"tiny":1e-999'])
      assert.ok(kept.includes(text), `${text} is not in ${kept}`);
  });

  test("C6, C7, C17: texts are stored as they are, whatever they would do elsewhere", async () => {
    assert.deepEqual(await content("texts", "title"), [TEXTS[0]]);
    const tags = await rowsOf(
      directory,
      "SELECT tag FROM content_tags WHERE content_id = 'texts' ORDER BY ordinal",
    );
    assert.deepEqual(tags.flat(), TEXTS);
  });

  test("C8: of a key that stands twice in an object the last one counts", async () => {
    assert.deepEqual(await content("twice", "title"), ["last"]);
  });

  test("C11: very many keys, and very long ones, are kept", async () => {
    const found = JSON.parse(await extra("many"));
    assert.equal(Object.keys(found).length, 20_001);
    assert.deepEqual([found[LONG_KEY], found.key_19999], [1, 19_999]);
  });

  test("C16: an instant that does not exist, or that no reader has, is NULL in its column and kept beside it", async () => {
    const columns = "created_at, assigned_date, completed_date, title, epoch(published_date)::VARCHAR";
    assert.deepEqual(await content("instants", columns), [null, null, null, "T", "-62135596800.0"]);
    assert.deepEqual(JSON.parse(await extra("instants")), IMPOSSIBLE);
  });
});
