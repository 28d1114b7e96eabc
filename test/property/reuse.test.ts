/** Nights of random edits over one warehouse, held against all that the service ever answered. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS } from "../../src/api/dynamic.ts";
import type { JsonObject } from "../../src/common/json.ts";
import { RawFileReader } from "../../src/raw/raw-file.ts";
import { readRawFolder } from "../../src/raw/raw-folder.ts";
import type { RawIndex } from "../../src/raw/raw-index.ts";
import { long } from "../long.ts";
import { exportFrom, HurriedClock, temporaryFolder } from "../run/running.ts";
import { type Item, item, listBody, type Question, type Reply, Scripted } from "../run/scripted.ts";

const REREAD_DAYS = 3;
const DAY_SECONDS = 24 * 60 * 60;
const ITEMS = 12;

/**
 * What an edit may change; only the first is told by `updated_at`. Answers for one item alone give `payment`, and
 * `published` as listings do; the last two may change by themselves.
 */
const EDITS: readonly ((n: number) => Readonly<Record<string, unknown>>)[] = [
  (n) => ({ title: `Title ${n}`, updated_at: new Date(Date.UTC(2026, 10, 1) + n * 1000).toISOString() }),
  (n) => ({ title: `Title ${n}` }),
  (n) => ({ custom_fields: { f1: [`value ${n}`] }, payment: n }),
  (n) => ({ published: n % 2 === 0, payment: n }),
  (n) => ({ progress_stage: `stage ${n}` }),
  (n) => ({ payment: n }),
  (n) => ({ favorite_count: n }),
  (n) => ({ author_details: { id: "u1", tz: `zone ${n}` } }),
];
const MARKED: ReadonlySet<string> = new Set(["favorite_count", "author_details"]);
const DEFAULT_SET = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].defaultSet);

/**
 * A service whose every answer has a second of its own, and that remembers what it answered in each. Some answers for
 * one item are of a state of some edits before.
 */
class Remembering {
  readonly service: Scripted;
  /** By the second of the answer: of each item the document. */
  readonly answered = new Map<number, Map<string, JsonObject>>();
  /** Of each item what the dynamic listings of the night gave: some, where it is edited meanwhile. */
  listed = new Map<string, { readonly document: JsonObject; readonly second: number }[]>();
  /** Requests until one is refused, so that the run ends early. */
  refusedAfter = Number.POSITIVE_INFINITY;
  second = Date.UTC(2026, 10, 20) / 1000;
  #state: number;
  #edits = 0;
  readonly #states: (readonly unknown[])[] = [];

  constructor(service: Scripted, seed: number) {
    this.service = service;
    this.#state = seed;
    service.script = (question) => this.#answer(question);
  }

  /** From 0 up to below `below`. */
  random(below: number): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return this.#state % below;
  }

  edit(): void {
    const n = ++this.#edits;
    const changes = EDITS[this.random(EDITS.length)]?.(n);
    const place = this.random(ITEMS);
    this.#states.push(this.service.items);
    this.service.items = this.service.items.map((each, index) =>
      index === place ? { ...(each as Item), ...changes } : each,
    );
  }

  #answer(question: Question): Reply {
    this.second += 1;
    this.refusedAfter -= 1;
    if (this.refusedAfter === 0) return { status: 401 };
    if (this.random(6) === 0) this.edit();
    const headers = { date: new Date(this.second * 1000).toUTCString() };
    const documents = new Map<string, JsonObject>();
    this.answered.set(this.second, documents);
    if (question.kind === "item") {
      const lag = this.random(2) === 0 ? 1 + this.random(6) : 0;
      const state = (lag > 0 && this.#states.at(-lag)) || this.service.items;
      const found = asked(state.find((each) => (each as Item).id === question.id) as Item, question);
      documents.set(question.id, found);
      return { headers, body: { response: found } };
    }
    if (question.kind !== "list") return { headers, body: [] };
    const list = this.service.items.map((each) => {
      const { payment: _, ...document } = each as Item;
      return document;
    });
    const body = listBody(list, question);
    for (const document of body.response as JsonObject[]) {
      documents.set(String(document.id), document);
      if (question.mode !== "dynamic") continue;
      const id = String(document.id);
      this.listed.set(id, [...(this.listed.get(id) ?? []), { document, second: this.second }]);
    }
    return { headers, body };
  }
}

/** What an answer for one item gives: the default set and the columns that were asked for; in full, all. */
function asked(document: Item, { mode, columns }: Question): JsonObject {
  if (mode !== "dynamic") return document;
  const given = new Set<string>([...DEFAULT_SET, ...columns]);
  return Object.fromEntries(Object.entries(document).filter(([name]) => given.has(name)));
}

interface Counted {
  readonly id: string;
  readonly mode: "listed" | "item";
  readonly second: number;
  readonly document: JsonObject;
}

/** The documents of a run that count. */
function counted(index: RawIndex): Counted[] {
  const { items } = index;
  const files = index.files.map(({ path }) => new RawFileReader(path));
  return [...items.sorted()].flatMap((number) =>
    index.counting(number).map(({ file, row }) => {
      const rows = files[file];
      assert.ok(rows);
      const { document, observedAt } = rows.view(row);
      const mode = rows.listed()[row] === undefined ? "item" : "listed";
      return { id: items.idOf(number), mode, second: observedAt / 1_000_000, document } as const;
    }),
  );
}

const unmarked = (document: JsonObject) =>
  JSON.stringify(Object.entries(document).filter(([name]) => !MARKED.has(name)));

async function nightsOf(t: TestContext, { seed, nights }: { seed: number; nights: number }) {
  const items = Array.from({ length: ITEMS }, (_, index) => item(`c-${index}`, index, { payment: index }));
  const world = new Remembering(await Scripted.start(t, items), seed);
  const out = await temporaryFolder(t);
  const config = { details: "all", perPage: 5, concurrency: 1, rereadDays: REREAD_DAYS } as const;
  const total = { reused: 0, asked: 0 };
  for (let night = 0; night < nights; night++) {
    const before = world.listed;
    world.listed = new Map();
    const begun = world.second;
    const clock = () => new HurriedClock(world.second * 1000);
    const run = () => exportFrom({ url: world.service.url, out, config, clock: clock() });
    if (world.random(3) === 0) {
      world.refusedAfter = 1 + world.random(30);
      // Where the run asks for less, it is the night.
      await run().catch((thrown) => assert.equal(thrown.code, "source.credentials", String(thrown)));
      world.refusedAfter = Number.POSITIVE_INFINITY;
    }
    const { directory } = await run();
    const { facts, takeIndex } = await readRawFolder(join(directory, "raw"));
    const documents = counted(takeIndex());
    for (const { id, second, document } of documents) {
      const then = world.answered.get(second)?.get(id);
      for (const [name, value] of Object.entries(document))
        assert.deepEqual(value, then?.[name], `${seed}: ${name} of ${id} in the night ${night}`);
    }
    for (const [id, listed] of world.listed) {
      const single = documents.filter((each) => each.id === id && each.mode === "item");
      const latest = Math.max(...single.map((each) => each.second));
      for (const reused of single.filter((each) => each.second <= begun)) {
        const answer = world.answered.get(reused.second)?.get(id);
        const agrees = ({ document }: { document: JsonObject }) =>
          DEFAULT_SET.every((name) => isDeepStrictEqual(answer?.[name], document[name]));
        assert.ok(listed.some(agrees), `${seed}: ${id} in the night ${night} is of another state`);
      }
      const [{ second } = { second: 0 }] = listed;
      assert.ok(second - latest < REREAD_DAYS * DAY_SECONDS, `${seed}: ${id} in the night ${night}`);
      const earlier = new Set(before.get(id)?.map(({ document }) => unmarked(document)));
      if (!listed.some(({ document }) => earlier.has(unmarked(document))))
        assert.ok(latest > begun, `${seed}: ${id} was edited before the night ${night}`);
    }
    total.reused += facts.found.singleItems.reused;
    total.asked += facts.found.singleItems.requested;
    world.second += [60, DAY_SECONDS, 2 * DAY_SECONDS][world.random(3)] ?? 0;
    for (let edits = world.random(4); edits > 0; edits--) world.edit();
  }
  return total;
}

long(
  "what counts is the service's of its time and agrees with the listing; what was edited is of this night; nothing is older than it may be",
  async (t) => {
    const total = { reused: 0, asked: 0 };
    for (const seed of Array.from({ length: 2 }, (_, place) => 1000 + place * 7919)) {
      const { reused, asked } = await nightsOf(t, { seed, nights: 8 });
      total.reused += reused;
      total.asked += asked;
    }
    assert.ok(total.reused > ITEMS && total.asked > 2 * ITEMS, JSON.stringify(total));
  },
);
