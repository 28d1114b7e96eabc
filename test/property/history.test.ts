import assert from "node:assert/strict";
import { before } from "node:test";
import { diffValues } from "../../src/audit/diff/value-diff.ts";
import type { MappedValue } from "../../src/audit/mapped-value.ts";
import { contentMappedValues } from "../../src/tables/destinations.ts";
import { runName } from "../../src/warehouse/layout.ts";
import { payloadJson, payloadMembers } from "../audit/mapping/procedure.ts";
import { type Night, Nights } from "../load/history-world.ts";
import { either, few, long, many } from "../long.ts";
import fc from "../properties.ts";
import { afterNight, intervalCauses, type Known, type KnownRow, orderDiffers } from "./history-model.ts";
import {
  applyEdit,
  type Draft,
  type Edit,
  editScript,
  FIELD_IDS,
  firstDraft,
  ITEM_IDS,
  seed,
  worldOf,
} from "./history-script.ts";

/** What becomes of a night: most runs are complete. */
const fate = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("complete" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("unsettled" as const),
      hidden: fc.subarray([...ITEM_IDS]),
      notLookedUp: fc.subarray([...FIELD_IDS]),
    }),
  },
  /** Somebody makes an earlier run current before the night. */
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rollback" as const), to: fc.nat(20) }) },
  /** The run before cannot be read. */
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("missing" as const) }) },
);

/** Of a random script; the one that is not has ten in any case. */
const NIGHTS = either(3, 10);

const nights = fc.array(
  fc.record({
    edits: editScript,
    fate,
    rowsPerRange: fc.constantFrom(20, 600_000, 600_000),
    itemBounds: fc.constantFrom([], ITEM_IDS.toSorted()),
    passthrough: fc.boolean(),
  }),
  { minLength: NIGHTS, maxLength: NIGHTS },
);

/** One night of a script. */
type Scripted = typeof nights extends fc.Arbitrary<(infer Each)[]> ? Each : never;

const complete = (...edits: Edit[]): Scripted => ({
  edits,
  fate: { kind: "complete" },
  rowsPerRange: 600_000,
  itemBounds: [],
  passthrough: false,
});

/**
 * Every cause comes up in this script, whatever the random ones have; and lists in another order, of which the value
 * numbers say it, do not say it, or say it with a value less.
 */
const EVERY_CAUSE: readonly Scripted[] = [
  complete(),
  complete({ kind: "item_values", choices: [2, 0, 1, 0] }, { kind: "item_values", choices: [4, 0, 0, 22] }),
  complete(
    { kind: "item_presence", choices: [1, 0, 0, 0] },
    { kind: "item_values", choices: [3, 0, 1, 0] },
    { kind: "item_copies", choices: [3, 0, 0, 1] },
    { kind: "item_values", choices: [2, 1, 1, 11] },
    { kind: "item_values", choices: [2, 2, 2, 3] },
    { kind: "item_values", choices: [4, 0, 4, 10] },
  ),
  complete(
    { kind: "item_presence", choices: [1, 0, 0, 0] },
    { kind: "item_copies", choices: [3, 0, 0, 1] },
    { kind: "item_values", choices: [2, 1, 2, 28] },
    { kind: "item_values", choices: [2, 2, 2, 28] },
    { kind: "item_values", choices: [4, 0, 0, 22] },
  ),
  complete({ kind: "item_order", choices: [2, 0, 0, 0] }),
  complete(
    { kind: "entry", choices: [0, 0, 0, 1] },
    { kind: "item_copies", choices: [3, 0, 0, 0] },
    { kind: "item_values", choices: [5, 0, 1, 16] },
  ),
  complete(
    { kind: "external_field_name", choices: [1, 0, 2, 0] },
    { kind: "entry", choices: [0, 0, 1, 1] },
    { kind: "mapping", choices: [2, 1, 0, 0] },
    { kind: "item_values", choices: [5, 0, 2, 8] },
  ),
  complete(
    { kind: "select_value", choices: [0, 0, 1, 0] },
    { kind: "external_field_name", choices: [1, 0, 0, 0] },
  ),
  complete(
    { kind: "destination", choices: [0, 0, 0, 0] },
    { kind: "external_field_name", choices: [1, 0, 1, 0] },
  ),
  complete({ kind: "field_type", choices: [0, 2, 0, 0] }, { kind: "mapping", choices: [2, 1, 0, 0] }),
];

/** A run that was published, with the chain of runs that its history knows. */
interface Published {
  readonly known: Known;
  readonly passthrough: boolean;
  readonly draft: Draft;
  readonly before: Published | undefined;
}

const startOf = (sequence: number): Date => new Date(Date.UTC(2026, 0, sequence, 2));
const nameOf = (sequence: number): string => runName(sequence, startOf(sequence));

/** A script of ten nights takes seconds; a longer search is for whoever changes the steps. */
const RUNS = many(1, 4);

let world: Nights;
before(async () => {
  world = await Nights.open();
});

long(
  "the history answers for every run of ten nights what that night's mapped values and payloads said, and why",
  async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(seed, nights, async (first, script) => {
        let draft = firstDraft(first);
        let current: Published | undefined;
        for (const [at, { edits, fate, rowsPerRange, itemBounds, passthrough }] of script.entries()) {
          const sequence = at + 1;
          if (fate.kind === "rollback") current = chainOf(current)[fate.to % at] ?? current;
          if (fate.kind === "missing") current = undefined;
          draft = structuredClone(draft);
          if (at > 0) for (const edit of edits) applyEdit(draft, edit);
          const hidden = new Set(fate.kind === "unsettled" ? fate.hidden : []);
          const notLookedUp = new Set(fate.kind === "unsettled" ? fate.notLookedUp : []);
          const verdict = fate.kind === "unsettled" ? "unsettled" : "complete";
          const night: Night = {
            world: worldOf(draft, { hidden, notLookedUp }),
            sequence,
            startedAt: startOf(sequence),
            verdict,
            previous: current === undefined ? undefined : nameOf(current.known.sequence),
            lookedUp: (field) => !notLookedUp.has(field),
            rowsPerRange,
            itemBounds,
            passthrough,
          };
          await world.run(night);
          const unseen = new Set(verdict === "unsettled" ? ITEM_IDS : []);
          const known = afterNight(current?.known, { ...night, unseen, notLookedUp });
          current = { known, passthrough, draft, before: current };
        }
        for (const run of chainOf(current)) await assertAsOf(run, seen);
        await assertRuns(chainOf(current));
        for (const to of chainOf(current)) {
          if (to.before === undefined) continue;
          await assertChanges(to.before.known, to.known, true, seen);
          await assertDiff(to.before, to, seen);
        }
        for (const to of few(chainOf(current), 3)) {
          if (to.before === undefined) continue;
          await assertChanges(to.known, to.before.known, false, seen);
          const [oldest] = chainOf(to).slice(-1);
          if (oldest === undefined || oldest === to.before) continue;
          await assertChanges(oldest.known, to.known, false, seen);
          await assertDiff(oldest, to, seen);
          await assertChanges(to.known, oldest.known, false, seen);
        }
      }),
      {
        examples: [[[0, 0, 0, 0], [...EVERY_CAUSE]]],
        numRuns: RUNS + 1,
        endOnFailure: true,
      },
    );
    for (const cause of ["first_seen", "item_returned", "item_changed", "destination_changed", "reordered"]) {
      assert.ok(seen.has(cause), cause);
    }
    assert.ok(seen.has("mapping_changed") && seen.has("definition_changed"));
    assert.ok(seen.has("collision_began") && seen.has("collision_ended"));
    for (const change of ["gained", "lost", "added", "taken_away", "changed", "alike"])
      assert.ok(seen.has(change), change);
    assert.ok(seen.has("a further copy") && seen.has("a copy less"));
    assert.ok(seen.has("reordered") && seen.has("reordered, with other values"));
  },
);

/** The newest first. */
function chainOf(run: Published | undefined): Published[] {
  return run === undefined ? [] : [run, ...chainOf(run.before)];
}

async function assertRuns(chain: readonly Published[]): Promise<void> {
  const rows = await world.rows("SELECT run, previous_run FROM run_history ORDER BY sequence DESC");
  assert.deepEqual(
    rows.map(({ run, previous_run }) => [run, previous_run]),
    chain.map(({ known, before }) => [
      nameOf(known.sequence),
      before === undefined ? null : nameOf(before.known.sequence),
    ]),
  );
}

async function assertAsOf({ known, passthrough }: Published, seen: Set<string>): Promise<void> {
  const present = [...known.items.values()].filter((item) => item.present).flatMap(({ rows }) => rows);
  const expected = present
    .map((each) => {
      const causes = intervalCauses(known, each);
      for (const cause of causes) seen.add(cause);
      const row = { ...each.row, ...receptionOf(known, each.row) };
      return { ...columnsOf(row), version_from_run: nameOf(each.since), cause: causes.join(", ") };
    })
    .sort(byKey);
  const instant = `'${startOf(known.sequence).toISOString()}'`;
  const names = contentMappedValues.columns.map(({ name }) => name);
  const columns = [...names, "version_from_run"].join(", ");
  const found = await world.rows(
    `SELECT ${columns}, array_to_string(cause, ', ') AS cause FROM mapped_values_as_of(${instant}) ORDER BY ALL`,
  );
  assert.deepEqual(
    found.map((row) => ({ ...row })),
    expected,
    `as of run ${known.sequence}`,
  );
  const payloads = payloadsQuery(
    present.map(({ row }) => ({ ...row, ...receptionOf(known, row) })),
    passthrough,
  );
  const sent = await world.rows(`FROM payloads_as_of(${instant}) ORDER BY ALL`);
  assert.deepEqual(
    sent.map((row) => ({ ...row })),
    payloads,
    `payloads as of run ${known.sequence}`,
  );
  for (const { content_id, destination_id, payload } of few(payloads, 2)) {
    const [one] = await world.rows(
      `SELECT payload_as_of('${content_id}', '${destination_id}', ${instant}) AS payload`,
    );
    assert.equal(one?.payload, payload);
  }
}

/** Facts of its destination, as of a run. */
function receptionOf({ definitions }: Known, { destinationId }: MappedValue) {
  const found = definitions.destinations.find((each) => each.destinationId === destinationId);
  const supports = found?.supportsMappings ?? null;
  return { destinationUnsupported: supports === null ? null : !supports, receives: supports !== false };
}

/** Changes of `diff` by what is sent, and the payloads that differ, both as the later run sends. */
async function assertDiff(from: Published, to: Published, seen: Set<string>): Promise<void> {
  const pair = { before: runAt(from), after: runAt(to) };
  const filter = { cause: undefined, destination: undefined, field: undefined };
  await diffValues(world.connection, pair, filter);
  const [counts] = await world.rows(
    "SELECT (SELECT count(*) FROM diff_shown)::INTEGER AS changes, count(*)::INTEGER AS payloads FROM diff_payloads",
  );
  const sentOf = ({ known }: Published) => {
    const rows = ledgerOf(known).map(({ row }) => row);
    return payloadsQuery(rows, to.passthrough).map(
      ({ content_id, destination_id, payload }) => `${content_id} ${destination_id} ${payload}`,
    );
  };
  const [was, is] = [sentOf(from), sentOf(to)];
  const differing = [
    ...was.filter((each) => !is.includes(each)),
    ...is.filter((each) => !was.includes(each)),
  ];
  const places = new Set(differing.map((each) => each.split(" ", 2).join(" ")));
  const between = `from run ${from.known.sequence} to run ${to.known.sequence}`;
  assert.equal(counts?.payloads, places.size, `payloads ${between}`);
  const [macro] = await world.rows(
    `SELECT count(*)::INTEGER AS rows FROM mapped_value_changes(${pair.before.sequence}, ${pair.after.sequence})`,
  );
  assert.equal(counts?.changes, macro?.rows, between);
  const rows = await world.rows("FROM diff_shown WHERE change <> 'reordered'");
  for (const row of rows) {
    const [old, now] = [sentBy(row, "before"), sentBy(row, "after")];
    const isAlike = JSON.stringify(old) === JSON.stringify(now);
    const some = old === null ? ["gained", "added"] : now === null ? ["lost", "taken_away"] : ["changed"];
    assert.ok((isAlike ? ["alike"] : some).includes(String(row.change)), JSON.stringify(row));
    seen.add(String(row.change));
  }

  function sentBy(row: Readonly<Record<string, unknown>>, side: "before" | "after") {
    const of = (name: string) => row[`${name}_${side}`] ?? null;
    return of("external_value") === null || of("name") === null ? null : [of("name"), of("external_value")];
  }
}

const runAt = ({ known: { sequence } }: Published) => ({
  run: nameOf(sequence),
  sequence,
  verdict: "complete" as const,
});

/** What a value is, besides its place. */
const contentOf = (row: MappedValue): string =>
  JSON.stringify({ ...row, ordinal: 0, destinationUnsupported: null });

/** What of it the changes name, of one side. */
function namedOf({ contentId, destinationId, customFieldId, ...row }: MappedValue): string {
  const { externalFieldName, valueId, value, externalValue, status } = row;
  const place = [contentId, destinationId, customFieldId];
  return JSON.stringify([...place, externalFieldName, valueId, value, externalValue, status]);
}

function ledgerOf({ items }: Known): KnownRow[] {
  return [...items.values()].filter(({ present }) => present).flatMap(({ rows }) => rows);
}

/** What one mapped values has and another has not, repeated values as often as they are there. */
function without(rows: readonly KnownRow[], less: readonly KnownRow[]): KnownRow[] {
  const left = less.map(({ row }) => contentOf(row));
  return rows.filter(({ row }) => {
    const at = left.indexOf(contentOf(row));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/**
 * The changes between two nights are the difference of their own ledgers, and say of what came why it did. Between two
 * that follow each other there are no other causes; over several nights those of the nights between come on top.
 */
async function assertChanges(from: Known, to: Known, isNext: boolean, seen: Set<string>): Promise<void> {
  const rows = await world.rows(
    `SELECT * REPLACE (array_to_string(causes, ', ') AS causes)
     FROM mapped_value_changes(${from.sequence}, ${to.sequence})`,
  );
  const found = rows.filter(({ change }) => change !== "reordered");
  const between = `from run ${from.sequence} to run ${to.sequence}`;
  const [was, is] = [ledgerOf(from), ledgerOf(to)];
  const [gone, come] = [without(was, is), without(is, was)];
  const reordered = reorderedFields(from, to);
  assert.deepEqual(
    rows
      .filter(({ change }) => change === "reordered")
      .map((row) => [row.content_id, row.destination_id, row.custom_field_id, row.causes].join(" "))
      .sort(),
    reordered.map((field) => `${field} reordered`).sort(),
    `reordered, ${between}`,
  );
  for (const field of reordered) {
    const differs = [...gone, ...come].some(({ row }) => fieldOf(row) === field);
    seen.add(differs ? "reordered, with other values" : "reordered");
  }
  for (const [side, expected] of [
    ["before", gone],
    ["after", come],
  ] as const) {
    assert.deepEqual(
      found.flatMap((row) => namedIn(row, side) ?? []).sort(),
      expected.map(({ row }) => namedOf(row)).sort(),
      `${side}, ${between}`,
    );
  }
  for (const { causes } of found) assert.notEqual(causes, "", between);
  const isFurther = (one: KnownRow, others: readonly KnownRow[]) =>
    others.some(({ row }) => contentOf(row) === contentOf(one.row));
  if (come.some((each) => isFurther(each, was))) seen.add("a further copy");
  if (gone.some((each) => isFurther(each, is))) seen.add("a copy less");
  if (to.sequence < from.sequence) return;
  const known = come
    .filter(({ since }) => since === to.sequence)
    .sort((one, other) => other.causes.length - one.causes.length);
  // Those alike are told apart by their causes: who has few of them has the least choice.
  const begun = found
    .filter((row) => row.changed_in_run === nameOf(to.sequence))
    .map((row) => ({ row, causes: String(row.causes).split(", ") }))
    .sort((one, other) => one.causes.length - other.causes.length)
    .sort((one, other) => Number(isTakenOver(one.row)) - Number(isTakenOver(other.row)));
  for (const { row, causes } of begun) {
    const at = known.findIndex(
      (each) =>
        namedOf(each.row) === namedIn(row, "after") &&
        each.causes.every((cause) => causes.includes(cause)) &&
        (each.causes.length === causes.length || isTakenOver(row) || !isNext),
    );
    assert.ok(at >= 0, `${between}: ${causes.join(", ")}, of ${namedIn(row, "after")}`);
    known.splice(at, 1);
  }
  assert.deepEqual(known, [], between);
}

const fieldOf = (row: MappedValue): string => [row.contentId, row.destinationId, row.customFieldId].join(" ");

/** Fields whose values stand in another order, of those that both nights have. */
function reorderedFields(from: Known, to: Known): string[] {
  const [was, is] = [from, to].map((known) => {
    const rows = ledgerOf(known).map(({ row }) => row);
    return Map.groupBy(
      rows.sort((one, other) => one.ordinal - other.ordinal),
      fieldOf,
    );
  });
  const keyOf = ({ valueId, value }: MappedValue) => JSON.stringify(valueId ?? ["text", value]);
  return [...(was ?? [])]
    .filter(([field, rows]) => orderDiffers(rows.map(keyOf), (is?.get(field) ?? []).map(keyOf)))
    .map(([field]) => field);
}

type Changed = Readonly<Record<string, unknown>>;

function namedIn(row: Changed, side: "before" | "after"): string | undefined {
  const of = (name: string) => row[`${name}_${side}`];
  if (of("status") === null) return undefined;
  const place = [row.content_id, row.destination_id, row.custom_field_id];
  const named = ["external_field_name", "value_id", "value", "external_value", "status"].map(of);
  return JSON.stringify([...place, ...named]);
}

/** Whether a value took the place of another: then the causes are those of both. */
function isTakenOver(row: Changed): boolean {
  return row.value_id_before !== row.value_id_after || row.value_before !== row.value_after;
}

/** The columns of content_mapped_values by name. */
function columnsOf(row: MappedValue): Readonly<Record<string, unknown>> {
  const named = Object.entries(row).map(([name, value]) => {
    return [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value];
  });
  return Object.fromEntries(named);
}

type Columns = Readonly<Record<string, unknown>>;

function byKey(one: Columns, other: Columns): number {
  const key = ({ content_id, destination_id, custom_field_id, ordinal }: Columns) =>
    [content_id, destination_id, custom_field_id, String(ordinal)].join("\0");
  return key(one) < key(other) ? -1 : 1;
}

function payloadsQuery(rows: readonly MappedValue[], passthrough: boolean) {
  const groups = Map.groupBy(rows, ({ contentId, destinationId }) => `${contentId}\0${destinationId}`);
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, group]) => {
      const [first] = group;
      const members = payloadMembers(
        group.toSorted((a, b) => byKey(columnsOf(a), columnsOf(b))),
        passthrough,
      );
      if (first === undefined || members.size === 0) return [];
      const { contentId, destinationId } = first;
      const receives = first.destinationUnsupported !== true;
      const payload = payloadJson(members);
      return [{ content_id: contentId, destination_id: destinationId, payload, receives }];
    });
}
