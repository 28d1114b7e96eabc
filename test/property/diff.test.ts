import assert from "node:assert/strict";
import { before } from "node:test";
import { diffRuns } from "../../src/audit/diff/diff.ts";
import type { RunPair } from "../../src/audit/diff/diff-runs.ts";
import type { MappedValue } from "../../src/audit/mapping/mapped-value.ts";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import { CAUSES } from "../../src/tables/history.ts";
import { runName } from "../../src/warehouse/layout.ts";
import { Nights } from "../load/history-world.ts";
import type { MappingWorld } from "../load/mapping-tables.ts";
import { long, many } from "../long.ts";
import fc from "../properties.ts";
import { afterNight, type Known, type KnownRow, orderDiffers } from "./history-model.ts";
import { applyEdit, type Edit, editScript, firstDraft, ITEM_IDS, seed, worldOf } from "./history-script.ts";

const startOf = (sequence: number): Date => new Date(Date.UTC(2026, 0, sequence, 2));
const nameOf = (sequence: number): string => runName(sequence, startOf(sequence));

const NIGHTS = 4;
/** Scripts of so many nights, each with all pairs of nights; a longer search is for whoever changes the steps. */
const RUNS = Number(process.env.DIFF_RUNS ?? many(1, 3));

/** Done every night besides: some of it is a removal, a return, and a change of each other kind. */
const EVERY_NIGHT: readonly Edit[] = [
  { kind: "item_presence", choices: [0, 0, 0, 0] },
  { kind: "item_values", choices: [3, 0, 1, 0] },
  { kind: "destination", choices: [0, 0, 0, 0] },
  { kind: "mapping", choices: [2, 1, 0, 0] },
  { kind: "item_order", choices: [5, 0, 0, 0] },
  { kind: "item_copies", choices: [6, 0, 0, 1] },
  { kind: "item_copies", choices: [7, 0, 0, 0] },
];

const script = fc.record({
  first: seed,
  nights: fc.array(
    fc.record({
      edits: editScript,
      passthrough: fc.boolean(),
      /** An item that this night, unsettled then, does not see. */
      hidden: fc.oneof(
        { weight: 5, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.constantFrom(...ITEM_IDS) },
      ),
    }),
    { minLength: NIGHTS, maxLength: NIGHTS },
  ),
  rowsPerRange: fc.constantFrom(3, 100_000),
});

interface Night {
  readonly known: Known;
  readonly world: MappingWorld;
  readonly passthrough: boolean;
  readonly complete: boolean;
}

let world: Nights;
before(async () => {
  world = await Nights.open();
});

const COPIED = ["content", "content_mapped_values", "destinations", "custom_fields", "run_history"];

async function runScript(nights: typeof script extends fc.Arbitrary<infer T> ? T : never): Promise<Night[]> {
  const draft = firstDraft(nights.first);
  // Two values, for the order of each night.
  applyEdit(draft, { kind: "item_values", choices: [5, 0, 2, 0] });
  // One value, given more often each night, and one that is given less often.
  applyEdit(draft, { kind: "item_values", choices: [6, 0, 0, 1] });
  for (const choices of [
    [7, 0, 0, 1],
    [7, 0, 0, 1],
  ] as const)
    applyEdit(draft, { kind: "item_copies", choices });
  const done: Night[] = [];
  for (const [at, { edits, passthrough, hidden }] of nights.nights.entries()) {
    const sequence = at + 1;
    if (at > 0) for (const edit of [...EVERY_NIGHT, ...edits]) applyEdit(draft, edit);
    const complete = hidden === null;
    const seen = worldOf(structuredClone(draft), {
      hidden: new Set(complete ? [] : [hidden]),
      notLookedUp: new Set(),
    });
    const verdict = complete ? "complete" : "unsettled";
    const previous = at === 0 ? undefined : nameOf(at);
    await world.run({ world: seen, sequence, startedAt: startOf(sequence), verdict, previous, passthrough });
    for (const table of COPIED) {
      const copy = quoteIdentifier(`${table} of night ${sequence}`);
      await world.connection.run(`CREATE OR REPLACE TABLE ${copy} AS FROM ${quoteIdentifier(table)}`);
    }
    const unseen = new Set(complete ? [] : ITEM_IDS);
    const notLookedUp = new Set<string>();
    const known = afterNight(done.at(-1)?.known, { sequence, world: seen, unseen, notLookedUp });
    done.push({ known, world: seen, passthrough, complete });
  }
  return done;
}

long(
  "the diff of two nights is the difference of what they mapped, and its causes are those of what happened",
  async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(script, async (given) => {
        const nights = await runScript(given);
        for (const a of nights.keys()) {
          for (let b = a; b < NIGHTS; b++) await assertPair(nights, a, b, given.rowsPerRange, seen);
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    // One run alone need not have all.
    if (RUNS === 1) return;
    for (const word of ["lost", "alike", "reordered", "destination_changed", "mapping_changed"]) {
      assert.ok(seen.has(word), word);
    }
  },
);

const CHANGES = `
  SELECT * REPLACE (array_to_string(causes, ' ') AS causes) FROM diff_changes ORDER BY ALL`;

async function assertPair(
  nights: readonly Night[],
  a: number,
  b: number,
  rowsPerRange: number,
  seen: Set<string>,
): Promise<void> {
  const [from, to] = [nights[a], nights[b]];
  if (from === undefined || to === undefined) throw new TypeError("no such night");
  const filter = { cause: undefined, destination: undefined, field: undefined };
  const pair: RunPair = { before: runOf(a, from), after: runOf(b, to), basis: nameOf(NIGHTS) };
  await diffRuns(world.connection, pair, filter, rowsPerRange);
  const rows = await world.rows(CHANGES);
  const found: Found[] = rows.map((row) => ({
    place: JSON.stringify([row.content_id, row.destination_id, row.custom_field_id]),
    change: String(row.change),
    causes: String(row.causes),
    before: row.status_before === null ? undefined : contentOf(row, "before"),
    after: row.status_after === null ? undefined : contentOf(row, "after"),
  }));
  const asLater = { ...from, passthrough: to.passthrough };
  assertContent(found, asLater, to, `from ${a + 1} to ${b + 1}`);
  const [was, is] = [payloadsOf(asLater), payloadsOf(to)];
  const differing = [...new Set([...was.keys(), ...is.keys()])].filter((key) => was.get(key) !== is.get(key));
  const kept = await world.rows("SELECT content_id, destination_id FROM diff_payloads");
  assert.deepEqual(
    kept.map(({ content_id, destination_id }) => JSON.stringify([content_id, destination_id])).sort(),
    differing.sort(),
    `payloads from ${a + 1} to ${b + 1}`,
  );
  const events = eventsBetween(nights, a, b);
  for (const { place, change, causes, before, after } of found) {
    seen.add(change);
    for (const cause of causes.split(" ")) seen.add(cause);
    if (change === "reordered") {
      assert.equal(causes, "reordered");
      continue;
    }
    // Whichever copies of the values it is about.
    const [ends, begins] = [before, after].map((content) =>
      content === undefined ? [[]] : (events.get(`${place} ${keyOf(content)}`) ?? [[]]),
    );
    const possible = (ends ?? []).flatMap((ended) =>
      (begins ?? []).map((begun) => inOrder([...ended, ...begun])),
    );
    assert.notEqual(causes, "");
    assert.ok(possible.includes(causes), `${place}: ${causes}, not ${possible.join(" or ")}`);
  }
  if (b === NIGHTS - 1 && from.complete && to.complete) await assertByLedgers(pair, a, b, [from, to]);
}

/** Without a history the ledgers say the same, but no cause. */
async function assertByLedgers(pair: RunPair, a: number, b: number, nights: readonly Night[]): Promise<void> {
  const { connection } = world;
  for (const [place, view] of ["before_run", "run"].entries())
    await connection.run(
      `CREATE OR REPLACE VIEW ${view} AS SELECT ${nights[place]?.passthrough === true} AS passthrough`,
    );
  await connection.run("CREATE OR REPLACE TABLE of_history AS FROM diff_changes");
  for (const table of COPIED) {
    const copy = quoteIdentifier(`${table} of night ${a + 1}`);
    await connection.run(`CREATE OR REPLACE VIEW ${quoteIdentifier(`before_${table}`)} AS FROM ${copy}`);
  }
  const filter = { cause: undefined, destination: undefined, field: undefined };
  await diffRuns(connection, { ...pair, basis: undefined }, filter, 10);
  const [known] = await world.rows("SELECT count(causes) AS causes FROM diff_changes");
  assert.equal(known?.causes, 0n);
  for (const [one, other] of [
    ["of_history", "diff_changes"],
    ["diff_changes", "of_history"],
  ]) {
    const extra = `SELECT * EXCLUDE (causes) FROM ${one} EXCEPT ALL SELECT * EXCLUDE (causes) FROM ${other}`;
    assert.deepEqual(await world.rows(extra), [], `by the ledgers from ${a + 1} to ${b + 1}`);
  }
}

const runOf = (at: number, { complete }: Night) => ({
  run: nameOf(at + 1),
  sequence: at + 1,
  verdict: complete ? ("complete" as const) : ("unsettled" as const),
});

/** What of a value is compared. */
type Content = readonly [
  valueId: unknown,
  value: unknown,
  name: unknown,
  sent: unknown,
  status: unknown,
  flags: unknown,
];

interface Found {
  readonly place: string;
  readonly change: string;
  readonly causes: string;
  readonly before: Content | undefined;
  readonly after: Content | undefined;
}

const keyOf = ([valueId, value]: Content): string => JSON.stringify(valueId ?? ["text", value]);

function contentOf(row: Readonly<Record<string, unknown>>, side: "before" | "after"): Content {
  const of = (name: string) => row[`${name}_${side}`];
  return [of("value_id"), of("value"), of("name"), of("external_value"), of("status"), of("flags")];
}

function contentOfRow(row: MappedValue, passthrough: boolean): Content {
  const flags = [
    ...(row.valueArchived ? ["value_archived"] : []),
    ...(row.valueUnknown ? ["value_unknown"] : []),
    ...(row.ambiguous ? ["ambiguous"] : []),
    ...(row.matchedByText ? ["matched_by_text"] : []),
    ...(row.destinationUnsupported === true ? ["destination_unsupported"] : []),
    ...(row.collision ? ["collision"] : []),
  ];
  const sends = row.status === "mapped" ? row.externalValue : passthrough ? row.value : null;
  const isSent = row.status === "mapped" || row.status === "no_value_mapping";
  const sent = row.externalFieldName !== null && isSent ? sends : null;
  return [row.valueId, row.value, row.externalFieldName, sent, row.status, flags.join(" ")];
}

/** What each field of each item holds, in its order. */
function placesOf({ known, passthrough }: Night): Map<string, Content[]> {
  const places = new Map<string, Content[]>();
  for (const { present, rows } of known.items.values()) {
    if (!present) continue;
    for (const { row } of rows.toSorted((one, other) => one.row.ordinal - other.row.ordinal)) {
      const place = placeOf(row);
      places.set(place, [...(places.get(place) ?? []), contentOfRow(row, passthrough)]);
    }
  }
  return places;
}

/** What each destination receives of each item: the values of each external name, field by field. */
function payloadsOf(night: Night): Map<string, string> {
  const payloads = new Map<string, Record<string, unknown[]>>();
  for (const [place, contents] of [...placesOf(night)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [contentId, destinationId] = JSON.parse(place);
    const key = JSON.stringify([contentId, destinationId]);
    const payload = payloads.get(key) ?? {};
    for (const [, , name, sent] of contents) {
      if (name === null || sent === null) continue;
      const values = payload[String(name)] ?? [];
      payload[String(name)] = [...values, sent];
      payloads.set(key, payload);
    }
  }
  const textOf = (payload: object) => JSON.stringify(payload, Object.keys(payload).sort());
  return new Map([...payloads].map(([key, payload]) => [key, textOf(payload)]));
}

const placeOf = (row: MappedValue): string =>
  JSON.stringify([row.contentId, row.destinationId, row.customFieldId]);

function assertContent(found: readonly Found[], from: Night, to: Night, message: string): void {
  const [was, is] = [placesOf(from), placesOf(to)];
  const byPlace = Map.groupBy(found, ({ place }) => place);
  for (const place of new Set([...was.keys(), ...is.keys(), ...byPlace.keys()])) {
    const [old, now] = [was.get(place) ?? [], is.get(place) ?? []];
    const changes = (byPlace.get(place) ?? []).filter(({ change }) => change !== "reordered");
    const [gone, come] = [without(old, now), without(now, old)];
    assert.deepEqual(sorted(changes.flatMap(({ before }) => before ?? [])), sorted(gone.flat()), message);
    assert.deepEqual(texts(changes.map(({ before }) => before)), texts(gone), `${message}: ${place}`);
    assert.deepEqual(texts(changes.map(({ after }) => after)), texts(come), `${message}: ${place}`);
    assert.equal(changes.length, Math.max(gone.length, come.length), `${message}: ${place}`);
    for (const { change, before, after } of changes) assert.equal(change, kindOf(before, after), place);
    const reordered = (byPlace.get(place) ?? []).some(({ change }) => change === "reordered");
    assert.equal(reordered, orderDiffers(old.map(keyOf), now.map(keyOf)), `order of ${place}, ${message}`);
  }
}

const sorted = (some: readonly unknown[]): string[] => some.map(String).sort();
const texts = (some: readonly (Content | undefined)[]): string[] =>
  some.flatMap((content) => (content === undefined ? [] : [JSON.stringify(content)])).sort();

/** A multiset less another. */
function without(from: readonly Content[], less: readonly Content[]): Content[] {
  const left = less.map((content) => JSON.stringify(content));
  return from.filter((content) => {
    const at = left.indexOf(JSON.stringify(content));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function kindOf(before: Content | undefined, after: Content | undefined): string {
  const [was, is] = [before?.[3] ?? null, after?.[3] ?? null];
  if (was === is && (was === null || before?.[2] === after?.[2])) return "alike";
  return was === null ? "gained" : is === null ? "lost" : "changed";
}

const inOrder = (causes: readonly string[]): string =>
  CAUSES.filter((cause) => causes.includes(cause)).join(" ");

/** Causes of the versions that began or ended after night `a`, until night `b`, by place and value, for each copy. */
function eventsBetween(nights: readonly Night[], a: number, b: number): Map<string, string[][]> {
  const events = new Map<string, string[][]>();
  const note = ({ row }: KnownRow, copy: number, causes: readonly string[]) => {
    const at = `${placeOf(row)} ${keyOf(contentOfRow(row, false))}`;
    const noted = events.get(at) ?? [];
    noted[copy] = [...(noted[copy] ?? []), ...causes];
    events.set(at, noted);
  };
  for (let at = a + 1; at <= b; at++) {
    const [before, night] = [nights[at - 1], nights[at]];
    if (before === undefined || night === undefined) throw new TypeError("no such night");
    for (const { present, rows } of night.known.items.values()) {
      if (!present) continue;
      for (const each of rows) note(each, copyOf(each, rows), each.since === at + 1 ? each.causes : []);
    }
    for (const [id, { present, rows }] of before.known.items) {
      if (!present) continue;
      const now = night.known.items.get(id);
      for (const each of rows) note(each, copyOf(each, rows), endOf(each, copyOf(each, rows), now, night));
    }
  }
  return events;
}

const isSameInput = (one: KnownRow, other: KnownRow): boolean =>
  placeOf(one.row) === placeOf(other.row) && one.input === other.input;

/** How many there are of it before it. */
function copyOf(row: KnownRow, rows: readonly KnownRow[]): number {
  return rows.slice(0, rows.indexOf(row)).filter((other) => isSameInput(other, row)).length;
}

/** Why a row is there no more; nothing where it is. */
function endOf(
  old: KnownRow,
  copy: number,
  now: ReturnType<Known["items"]["get"]>,
  night: Night,
): readonly string[] {
  if (now?.present !== true) return ["item_removed"];
  const copies = now.rows.filter((each) => isSameInput(each, old));
  const next = copies[copy] ?? copies[0];
  if (next !== undefined) {
    const changed = next.since === night.known.sequence ? next.causes : [];
    return copies[copy] === undefined ? ["item_changed", ...changed] : changed;
  }
  const { customFieldId, destinationId, contentId } = old.row;
  const given = night.world.items
    .find((item) => item.contentId === contentId)
    ?.values.some((value) => value.customFieldId === customFieldId && value.input === old.input);
  const mapped = night.world.fields
    .find((field) => field.customFieldId === customFieldId)
    ?.mappings.some((mapping) => mapping.destinationId === destinationId);
  return [
    ...(given !== true || mapped === true ? ["item_changed"] : []),
    ...(mapped === true ? [] : ["mapping_changed"]),
  ];
}
