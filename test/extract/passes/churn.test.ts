/**
 * A service whose items are edited, added and deleted while they are listed, after every few list requests, for a while
 * or without end. Whatever a run says of it must be true, and every run is published.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { RunSummary } from "../../../src/observe/run-summary.ts";
import { either } from "../../long.ts";
import { exportFrom, HurriedClock, rowsOf, temporaryFolder } from "../../run/running.ts";
import { type Item, itemsOf, type Question, Scripted } from "../../run/scripted.ts";

/** The long suite asks for more of them in either form. */
const SEEDS = Number(process.env.CHURN_SEEDS ?? either(1, 3));
const ITEMS = 230;
const PER_PAGE = 10;
/** Changes of a service that comes to rest, at most. */
const MAX_CHANGES = 12;

/** A small generator of numbers, the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

class Churn {
  readonly #random: (below: number) => number;
  readonly #every: number;
  #left: number;
  #lists = 0;
  #changes = 0;
  readonly service: Scripted;
  /** Each state that the service was in, as what would be published of it. */
  readonly states = new Set<string>();

  constructor(service: Scripted, seed: number) {
    this.service = service;
    this.#random = randomOf(seed);
    this.#every = 4 + this.#random(22);
    this.#left = seed % 2 === 0 ? MAX_CHANGES : Number.POSITIVE_INFINITY;
    service.items = itemsOf(ITEMS).map((item) => this.#version(item));
    this.states.add(this.#state());
    service.script = (question) => this.#asked(question);
  }

  /** Each document has the version three times: where both modes have it, in dynamic alone, in full alone. */
  #version(item: Item): Item {
    this.#changes += 1;
    const updated_at = new Date(Date.UTC(2026, 9, 1) + this.#changes * 1000).toISOString();
    const title = `v${this.#changes}`;
    return { ...item, updated_at, title, excerpt: title, owner: title };
  }

  #asked({ kind }: Question): undefined {
    if (kind !== "list") return;
    this.#lists += 1;
    if (this.#left === 0 || this.#lists % this.#every !== 0) return;
    this.#left -= 1;
    this.#change();
    this.states.add(this.#state());
  }

  #change(): void {
    const items = this.service.items as Item[];
    const place = this.#random(items.length);
    const kind = this.#random(3);
    if (kind === 0) this.service.items = items.map((each, i) => (i === place ? this.#version(each) : each));
    if (kind === 1) this.service.items = items.toSpliced(place, 1);
    if (kind === 2) this.service.items = [...items, this.#version({ id: `n-${this.#changes}` })];
  }

  #state(): string {
    return stateOf((this.service.items as Item[]).map(({ id, title }) => [id, title, title, title]));
  }
}

function stateOf(rows: readonly (readonly unknown[])[]): string {
  return rows
    .map((row) => row.join(" "))
    .sort()
    .join("\n");
}

async function runOver(t: TestContext, seed: number): Promise<{ churn: Churn; summary: RunSummary }> {
  const churn = new Churn(await Scripted.start(t, []), seed);
  const out = await temporaryFolder(t);
  const summary = await exportFrom({
    url: churn.service.url,
    out,
    clock: new HurriedClock(),
    config: { perPage: PER_PAGE, concurrency: 2 },
  });
  return { churn, summary };
}

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`D11, D12, D13, D19: a run over a churning service is published, and says what is true (seed ${seed})`, async (t) => {
    const { churn, summary } = await runOver(t, seed);
    const { listed, loaded, rejected, vanished, unread } = summary.items;
    assert.equal(loaded + rejected + vanished + unread, listed);
    const [failed] = await rowsOf(
      summary.directory,
      "SELECT count(*) FROM run_checks WHERE verdict = 'failed'",
    );
    assert.deepEqual(failed, ["0"]);
    if (summary.verdict === "unsettled") {
      assert.ok(summary.reasons.length > 0);
      return;
    }
    const published = await rowsOf(
      summary.directory,
      "SELECT content_id, title, excerpt, owner_id FROM content",
    );
    assert.ok(churn.states.has(stateOf(published)), "complete, and never was so");
  });
}
