import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { DYNAMIC_COLUMN_NAMES } from "../../src/api/dynamic.ts";
import { WarehouseError } from "../../src/common/errors.ts";
import { packagePath } from "../../src/common/package-root.ts";
import type {
  Campaign,
  ContentType,
  CustomField,
  Document,
  Token,
  User,
} from "../../src/service/content-set.ts";
import { loadContentSet } from "../../src/service/load.ts";
import { createService } from "../../src/service/service.ts";
import { ask } from "../service/ask.ts";
import { documentAt } from "./document.ts";
import { documents, generateContentSet, generateSampleSet } from "./generate.ts";
import { oddities } from "./oddities.ts";
import { makePlan } from "./plan.ts";
import { bulk } from "./profile.ts";
import { type Reading, tells } from "./told-oddities.ts";
import { tarnbrook } from "./vocabulary.ts";
import { writePartial } from "./write.ts";

const FILES = [
  "campaigns.ndjson",
  "content.ndjson",
  "content_types.ndjson",
  "custom_fields.ndjson",
  "destinations.ndjson",
  "instance.json",
  "tokens.json",
  "users.ndjson",
];

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "generate-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function digests(path: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(path)).sort()) {
    found[name] = createHash("sha256")
      .update(await readFile(join(path, name)))
      .digest("hex");
  }
  return found;
}

async function lines<T>(path: string, name: string): Promise<T[]> {
  const text = await readFile(join(path, name), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line): T => JSON.parse(line));
}

async function generated(t: TestContext, items: number, seed: number): Promise<string> {
  const out = await folder(t);
  await generateContentSet({ items, seed, out });
  return out;
}

async function read(path: string): Promise<Reading> {
  const all = await lines<Document>(path, "content.ndjson");
  const byId = <T extends { readonly id: string }>(rows: readonly T[]) =>
    new Map(rows.map((row) => [row.id, row]));
  return {
    documents: all,
    types: byId(await lines<ContentType>(path, "content_types.ndjson")),
    fields: await lines<CustomField>(path, "custom_fields.ndjson"),
    users: byId(await lines<User>(path, "users.ndjson")),
    campaigns: byId(await lines<Campaign>(path, "campaigns.ndjson")),
    ids: new Set(all.map(({ id }) => id)),
  };
}

suite("a content set is a function of seed and number of items", () => {
  test("the same seed gives the same bytes in every file", async (t) => {
    const first = await digests(await generated(t, 300, 7));
    assert.deepEqual(Object.keys(first), FILES);
    assert.deepEqual(await digests(await generated(t, 300, 7)), first);
  });

  test("another seed gives other items, definitions and people", async (t) => {
    const first = await digests(await generated(t, 20, 7));
    const other = await digests(await generated(t, 20, 8));
    const same = FILES.filter((name) => first[name] === other[name]);
    assert.deepEqual(same, []);
  });

  test("an item is made without those before it, however many there are", () => {
    const plan = makePlan(bulk, 3_000_000, 5);
    const [first, second] = documents(plan);
    assert.deepEqual(documentAt(plan, 1), second);
    assert.notDeepEqual(first, second);
    const last = documentAt(plan, 2_999_999);
    assert.ok(last.created_at > "2026-10-29" && last.created_at < "2026-10-31", last.created_at);
  });

  test("IDs are 24 hexadecimal digits, ascending and unique, and so are the instants of creation", () => {
    const all = [...documents(makePlan(bulk, 2_000, 3))];
    for (const [index, { id, created_at }] of all.entries()) {
      assert.match(id, /^[0-9a-f]{24}$/);
      const before = all[index - 1];
      assert.ok(before === undefined || (before.id < id && before.created_at <= created_at), id);
    }
    assert.equal(new Set(all.map(({ slug }) => slug)).size, all.length);
  });
});

suite("a thousand items", () => {
  let path: string;
  let set: Reading;
  before(async () => {
    path = await mkdtemp(join(tmpdir(), "generate-"));
    await generateContentSet({ items: 1000, seed: 1, out: path });
    set = await read(path);
  });
  after(() => rm(path, { recursive: true }));

  test("are what the service can serve, line by line", async () => {
    const loaded = await loadContentSet(path);
    assert.equal(loaded.outline.count, 1000);
    await loaded.close();
  });

  for (const [name, tell] of Object.entries(tells)) {
    test(`hold the oddity: ${name}`, () => {
      assert.ok(set.documents.some((document) => tell(document, set)));
    });
  }
});

interface WireField {
  readonly resource: string;
  readonly path: string;
  readonly type: string;
  readonly default?: string;
}

/** Every value that stands at a path of a document: `a.b[].c`; `{file}` stands for any key. */
function valuesAt(found: unknown, path: string): unknown[] {
  if (path === "") return [found];
  if (found === null || typeof found !== "object") return [];
  const [head = "", ...rest] = path.split(".");
  const name = head.replace(/\[\]$/, "");
  const inner: unknown[] = name === "{file}" ? Object.values(found) : [Reflect.get(found, name)];
  const each = head.endsWith("[]") ? inner.flat(1) : inner;
  return each.flatMap((one) => valuesAt(one, rest.join(".")));
}

/** Neither nothing nor the specification's default. */
function saysSomething(value: unknown, field: WireField): boolean {
  if (value === undefined || value === null) return false;
  const text = JSON.stringify(value);
  if (field.default !== undefined && field.default !== "none")
    return text !== field.default && value !== field.default;
  return text !== '""' && text !== "[]" && text !== "{}" && text !== "false";
}

suite("served", () => {
  test("every field of the specification has a value somewhere", async (t) => {
    const data = await generated(t, 600, 1);
    const service = await createService({ data });
    t.after(() => service.close());
    const get = async (path: string) => {
      const answer = await ask(service, `/api/v1/${path}`, { token: "sample-token" });
      assert.equal(answer.status, 200, path);
      return JSON.parse(answer.bytes.toString());
    };
    const columns = DYNAMIC_COLUMN_NAMES.map((name) => `columns[]=${name}`).join("&");
    const pages = async (query: string) => {
      const all = [];
      for (let page = 1; page <= 6; page++) all.push(await get(`content?per_page=100&page=${page}&${query}`));
      return all;
    };
    const items = (envelopes: { response: unknown[] }[]) => envelopes.flatMap(({ response }) => response);
    const dynamic = await pages(`gallery=true&${columns}`);
    const set = await read(data);
    const events = set.documents
      .filter((document) => document.event !== undefined || document.payment)
      .slice(0, 60);
    const singles = await Promise.all(events.map(({ id }) => get(`content/${id}?gallery=true&${columns}`)));
    const names = set.fields.map(({ name }) => `name[]=${encodeURIComponent(name)}`).join("&");
    const seen: Record<string, unknown[]> = {
      destination: await get("destinations?name=Web%20CMS&platform=External"),
      custom_field_definition: await get(`custom_fields_reference?${names}`),
      envelope: dynamic,
      basic: items(await pages("detail=basic")),
      full: items(await pages("detail=full")),
      dynamic: [...items(dynamic), ...singles.map(({ response }) => response)],
    };
    const spec: WireField[] = JSON.parse(await readFile(packagePath("test/fixtures/fields.json"), "utf8"));
    const silent = spec.filter((field) => {
      const values = (seen[field.resource] ?? []).flatMap((one) => valuesAt(one, field.path));
      return !values.some((value) => saysSomething(value, field));
    });
    assert.equal(spec.length, 424);
    assert.deepEqual(
      silent.map(({ path }) => path),
      // Users of the dynamic set do not say who is a superadmin, and a next task is never completed.
      ["author_details.superadmin", "creator_details.superadmin", "next_task.completed"],
    );
  });
});

suite("writing", () => {
  test("asks for the next items only when the disk has taken those before them", async (t) => {
    const out = await folder(t);
    let asked = 0;
    let most = 0;
    let taken = 0;
    function* texts() {
      for (let index = 0; index < 60; index++) {
        asked += 100_000;
        most = Math.max(most, asked - taken);
        yield "x".repeat(100_000);
      }
    }
    const bytes = await writePartial(out, "content.ndjson", texts(), (done) => {
      taken = done;
    });
    assert.equal(bytes, 6_000_000);
    assert.ok(most < 1_300_000, `${most} bytes were waiting`);
  });

  test("tells how far it is, and keeps nothing that was written", async (t) => {
    const out = await folder(t);
    const heard: { items: number; bytes: number }[] = [];
    await generateContentSet({ items: 900, seed: 1, out, onProgress: (progress) => heard.push(progress) });
    const last = heard.at(-1);
    assert.equal(last?.items, 900);
    assert.equal(last?.bytes, (await stat(join(out, "content.ndjson"))).size);
    assert.ok(heard.length > 3);
    for (const [index, { items }] of heard.entries()) assert.ok(items > (heard[index - 1]?.items ?? 0));
  });

  test("an interrupted set leaves nothing behind and says why", async (t) => {
    const out = await folder(t);
    const stop = new AbortController();
    const reason = new WarehouseError("run.interrupted", "Stopped.");
    let made = 0;
    const onProgress = ({ items }: { items: number }) => {
      made = items;
      stop.abort(reason);
    };
    await assert.rejects(
      generateContentSet({ items: 100_000, seed: 1, out, onProgress, signal: stop.signal }),
      (thrown) => thrown === reason,
    );
    assert.ok(made < 1000);
    assert.deepEqual(await readdir(out), []);
  });

  test("a content set is replaced, its neighbours stay", async (t) => {
    const out = await generated(t, 5, 1);
    await writeFile(join(out, "notes.txt"), "mine");
    await generateContentSet({ items: 3, seed: 2, out });
    assert.deepEqual(await readdir(out).then((names) => names.sort()), [...FILES, "notes.txt"].sort());
    assert.equal((await lines(out, "content.ndjson")).length, 3);
  });

  test("what a killed process left is no obstacle", async (t) => {
    const out = await folder(t);
    await writeFile(join(out, ".content.ndjson.partial"), "half a li");
    await generateContentSet({ items: 3, seed: 2, out });
    assert.deepEqual((await readdir(out)).sort(), FILES);
  });

  test("a folder with anything else is refused and left alone", async (t) => {
    const out = await folder(t);
    await writeFile(join(out, "thesis.docx"), "years of work");
    await assert.rejects(generateContentSet({ items: 3, seed: 2, out }), { code: "config.output" });
    assert.deepEqual(await readdir(out), ["thesis.docx"]);
  });

  test("a path that cannot be a folder is refused", async (t) => {
    const out = join(await folder(t), "file");
    await writeFile(out, "");
    await assert.rejects(generateContentSet({ items: 3, seed: 2, out }), { code: "config.output" });
  });

  test("numbers that are none are refused before anything is written", async (t) => {
    const out = join(await folder(t), "set");
    for (const wrong of [{ items: -1 }, { items: 1.5 }, { items: 20_000_000 }, { seed: Number.NaN }]) {
      await assert.rejects(generateContentSet({ items: 3, seed: 2, out, ...wrong }), {
        code: "config.invalid",
      });
    }
    await assert.rejects(readdir(out), { code: "ENOENT" });
  });

  test("no items are a content set as well", async (t) => {
    const loaded = await loadContentSet(await generated(t, 0, 1));
    assert.equal(loaded.outline.count, 0);
    await loaded.close();
  });
});

suite("the sample", () => {
  const committed = packagePath("data/sample");

  test("is what the generator makes", async (t) => {
    const out = await folder(t);
    await generateSampleSet({ out });
    assert.deepEqual(await digests(committed), await digests(out));
  });

  test("begins with items that are published and have a title", async () => {
    const all = await lines<Document>(committed, "content.ndjson");
    const first = all.slice(0, 12);
    assert.equal(all.length, 500);
    assert.ok(first.every(({ title, published, archived }) => title && published && !archived));
    assert.ok(new Set(first.map(({ content_type }) => content_type)).size >= 8);
  });

  test("has every oddity that is not harsh, and none that is", async () => {
    const set = await read(committed);
    for (const [name, tell] of Object.entries(tells)) {
      const found = set.documents.filter((document) => tell(document, set)).length;
      const harsh = Object.entries(oddities).some(([other, effect]) => other === name && effect.harsh);
      if (harsh) assert.equal(found, 0, name);
      else assert.ok(found >= 2, `${name}: ${found}`);
    }
  });

  test("has slugs without numbers, and each once", async () => {
    const slugs = (await lines<Document>(committed, "content.ndjson")).map(({ slug }) => slug);
    assert.equal(new Set(slugs).size, 500);
    assert.equal(slugs[0], "why-your-tent-is-wet-inside-and-what-to-do-about-it");
  });

  test("repeats no title but where that is the oddity", async () => {
    const titles = (await lines<Document>(committed, "content.ndjson")).map(({ title }) => title ?? "");
    const translated = new Set(tarnbrook.translations.map(({ title }) => title));
    const repeated = titles.filter(
      (title, index) => titles.indexOf(title) !== index && !translated.has(title),
    );
    assert.deepEqual([...new Set(repeated)].sort(), ["", "Monthly planning"]);
  });

  test("has a token of an editor and one of a viewer", async () => {
    const tokens: Token[] = JSON.parse(await readFile(join(committed, "tokens.json"), "utf8"));
    const users = new Map((await lines<User>(committed, "users.ndjson")).map((user) => [user.id, user]));
    const roles = tokens.map(({ token, user_id }) => [token, users.get(user_id)?.role]);
    assert.deepEqual(roles, [
      ["sample-token", "editor"],
      ["sample-viewer-token", "viewer"],
    ]);
  });
});
