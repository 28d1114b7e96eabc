/** What a resumed run does with the pages that were read before. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { systemClock } from "../../../src/common/clock.ts";
import type { HttpClient } from "../../../src/extract/http/client.ts";
import type { ListedGroup } from "../../../src/extract/landing/checkpoint-form.ts";
import type { StageLanding } from "../../../src/extract/landing/landing.ts";
import { ItemVersions } from "../../../src/extract/passes/item-versions.ts";
import { readPass } from "../../../src/extract/passes/listing.ts";
import { ItemIndex } from "../../../src/raw/item-index.ts";
import { landingIn } from "../landing/landing-in.ts";

const GROUPS = 40;
/** Under way at a time, whatever the number of requests. */
const GROUPS_AT_A_TIME = 16;

function unexpected(): never {
  throw new Error("no request was to be made");
}

const nobody: HttpClient = {
  host: "none.example",
  readAs: unexpected,
  close: unexpected,
};

/** Each group is a page of one item. */
function groupOf(group: number): ListedGroup {
  const page = group + 1;
  const next = page < GROUPS ? page + 1 : null;
  const pagination = { current: page, next, per_page: 1, count: GROUPS, pages: GROUPS };
  const items = [{ id: `item ${page}`, position: 0, updatedAt: null, event: false, fingerprint: "" }];
  const record = {
    mode: "full",
    pass: 2,
    page,
    position: 0,
    nextPage: next,
    previousPage: null,
    contentId: null,
    status: 200,
    attempts: 1,
    bytes: 1,
    milliseconds: 1,
    observedAt: 0,
    sha256: "0".repeat(64),
  } as const;
  const result = { answer: { pagination }, rows: 1, items, rejects: [], decodedBytes: 1 };
  return {
    startedMs: 0,
    pagesPerGroup: 1,
    perPage: 1,
    file: null,
    drift: [],
    fieldNames: [],
    pages: [{ page, result, record, split: null }],
  };
}

interface Replayed {
  readonly reopenGroup: (group: number) => Promise<void>;
  readonly read?: (group: number) => Promise<ListedGroup>;
  readonly signal?: AbortSignal;
}

async function replay(t: TestContext, { reopenGroup, read, signal }: Replayed) {
  const { landing, journal } = await landingIn(t, "");
  const itemIndex = new ItemIndex();
  const context = {
    client: nobody,
    landing,
    journal,
    itemIndex,
    versions: new ItemVersions(itemIndex),
    clock: systemClock,
    signal: signal ?? new AbortController().signal,
    settings: {
      columns: [],
      itemColumns: [],
      shapes: ["dynamic", "full"],
      concurrency: 1,
      singlesLimits: { items: 5, share: 0 },
      limit: null,
    },
    onProgress: () => {},
  } as const;
  const stage: StageLanding = landing.stage("full", 2);
  stage.resume = reopenGroup;
  return readPass(context, {
    pass: 2,
    mode: "full",
    columns: [],
    perPage: 1,
    firstPage: undefined,
    landing: stage,
    resumed: {
      groups: Array.from({ length: GROUPS }, (_, group) => {
        return { group, read: () => (read ?? (async () => groupOf(group)))(group) };
      }),
      pages: GROUPS,
      startedMs: 0,
      endedMs: 1,
      perPage: 1,
      pagesPerGroup: 1,
    },
    pagesPerGroup: 1,
    wants: () => false,
  });
}

test("groups that were read before are taken over a few at a time: memory does not hold them all", async (t) => {
  const taken: number[] = [];
  let underWay = 0;
  let most = 0;
  const reopenGroup = async (group: number) => {
    taken.push(group);
    underWay += 1;
    most = Math.max(most, underWay);
    await setTimeout(2);
    underWay -= 1;
  };
  const pass = await replay(t, { reopenGroup });
  assert.deepEqual(
    taken,
    Array.from({ length: GROUPS }, (_, group) => group),
  );
  assert.deepEqual([most, underWay], [GROUPS_AT_A_TIME, 0]);
  assert.deepEqual([pass.snapshot.distinct, pass.resumedPages], [GROUPS, GROUPS]);
});

/** Groups that are begun, until the pass has ended as it must and some time after that. */
async function begunBefore(
  t: TestContext,
  failure: RegExp,
  replayed: Replayed,
): Promise<{ early: number; late: number }> {
  let begun = 0;
  const reopenGroup: Replayed["reopenGroup"] = async (group) => {
    begun += 1;
    await setTimeout(2);
    await replayed.reopenGroup(group);
  };
  await assert.rejects(replay(t, { ...replayed, reopenGroup }), failure);
  const early = begun;
  await setTimeout(20);
  return { early, late: begun - early };
}

test("a group that cannot be taken over ends the pass, also the last one", async (t) => {
  for (const broken of [1, GROUPS - 1]) {
    const reopenGroup = async (group: number) => {
      if (group === broken) throw new Error("the file is gone");
    };
    const { early, late } = await begunBefore(t, /the file is gone/, { reopenGroup });
    assert.ok(early <= broken + 1 + 2 * GROUPS_AT_A_TIME, `${early} groups were begun`);
    assert.equal(late, 0);
  }
});

test("a group that cannot be read ends the pass, and none is begun after that", async (t) => {
  const read = async (group: number) => {
    if (group === 20) throw new Error("the checkpoint is gone");
    return groupOf(group);
  };
  const { early, late } = await begunBefore(t, /the checkpoint is gone/, {
    read,
    reopenGroup: async () => {},
  });
  assert.ok(early <= 20, `${early} groups were begun`);
  assert.equal(late, 0);
});

test("what ends the run ends the taking over", async (t) => {
  const controller = new AbortController();
  const reopenGroup = async (group: number) => {
    if (group === 3) controller.abort(new Error("somebody pressed a key"));
  };
  const ended = { reopenGroup, signal: controller.signal };
  const { early, late } = await begunBefore(t, /somebody pressed a key/, ended);
  assert.ok(early < GROUPS, `${early} groups were begun`);
  assert.equal(late, 0);
});
