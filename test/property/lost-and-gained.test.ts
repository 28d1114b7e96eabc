import assert from "node:assert/strict";
import { before, test } from "node:test";
import { diffValues } from "../../src/audit/diff/value-diff.ts";
import { indexDefinitions } from "../../src/audit/mapping/definitions.ts";
import { readMappedChanges } from "../../src/audit/mapping/lost-and-gained.ts";
import { TABLES_OF_VIEWS } from "../../src/load/views.ts";
import { execute } from "../../src/storage/duckdb.ts";
import { runName } from "../../src/warehouse/layout.ts";
import { mapItem } from "../audit/mapping/procedure.ts";
import { Nights } from "../load/history-world.ts";
import type { MappingWorld } from "../load/mapping-tables.ts";
import { many } from "../long.ts";
import fc from "../properties.ts";
import { applyEdit, type Edit, editScript, firstDraft, seed, worldOf } from "./history-script.ts";

let nights: Nights;
before(async () => {
  nights = await Nights.open();
});

const NIGHTS = 5;
const NOTHING_HIDDEN = { hidden: new Set<string>(), notLookedUp: new Set<string>() };
const startOf = (sequence: number) => new Date(Date.UTC(2026, 0, sequence, 2));
const runOf = (sequence: number) => runName(sequence, startOf(sequence));

/** Nights with losses and gains, whatever the random ones have: by an entry, a mapping, a value, a type, a copy. */
const EDITS: readonly Edit[][] = [
  [],
  [
    { kind: "entry", choices: [0, 0, 0, 0] },
    { kind: "entry", choices: [1, 0, 0, 1] },
    { kind: "item_values", choices: [3, 0, 1, 0] },
  ],
  [
    { kind: "entry", choices: [0, 0, 0, 1] },
    { kind: "item_order", choices: [2, 0, 0, 0] },
    { kind: "mapping", choices: [1, 0, 0, 0] },
    { kind: "destination", choices: [1, 0, 0, 0] },
  ],
  [
    { kind: "mapping", choices: [1, 0, 1, 0] },
    { kind: "select_value", choices: [0, 0, 0, 0] },
    { kind: "item_presence", choices: [1, 0, 0, 0] },
  ],
  [
    { kind: "entry", choices: [1, 0, 1, 4] },
    { kind: "field_type", choices: [0, 2, 0, 0] },
    { kind: "item_copies", choices: [3, 0, 0, 1] },
    { kind: "item_presence", choices: [1, 0, 0, 0] },
  ],
];

/** Two copies that become one without an entry; an entry that comes back, and then loses its external value. */
const COPIES: readonly Edit[][] = [
  [{ kind: "item_values", choices: [2, 1, 1, 8] }],
  [
    { kind: "entry", choices: [1, 0, 0, 1] },
    { kind: "entry", choices: [1, 0, 1, 0] },
    { kind: "item_values", choices: [2, 1, 8, 1] },
  ],
  [{ kind: "entry", choices: [1, 0, 1, 1] }],
  [{ kind: "entry", choices: [1, 0, 1, 4] }],
  [],
];

/** Values that are sent as they are; a destination begins and ceases to receive in nights in which mappings end. */
const AS_IS: readonly Edit[][] = [
  [
    { kind: "item_values", choices: [2, 2, 8, 1] },
    { kind: "item_values", choices: [2, 1, 7, 0] },
    { kind: "entry", choices: [1, 1, 0, 1] },
  ],
  [
    { kind: "destination", choices: [1, 0, 0, 0] },
    { kind: "mapping", choices: [1, 1, 0, 0] },
  ],
  [{ kind: "mapping", choices: [2, 1, 0, 0] }],
  [{ kind: "mapping", choices: [1, 1, 0, 0] }],
  [
    { kind: "destination", choices: [1, 0, 0, 0] },
    { kind: "mapping", choices: [1, 1, 0, 0] },
  ],
];

test("what five nights lost and gained is the same by the SQL, by the mapping procedure, and by the history", async () => {
  const seen = { lost: 0, gained: 0 };
  await fc.assert(
    fc.asyncProperty(
      seed,
      fc.array(editScript, { minLength: NIGHTS, maxLength: NIGHTS }),
      fc.boolean(),
      async (first, script, passthrough) => {
        const draft = firstDraft(first);
        let old: MappingWorld | undefined;
        for (const [at, edits] of script.entries()) {
          const sequence = at + 1;
          for (const edit of edits) applyEdit(draft, edit);
          for (const table of TABLES_OF_VIEWS)
            await execute(nights.connection, `CREATE OR REPLACE TABLE before_${table} AS FROM ${table}`);
          const now = worldOf(structuredClone(draft), NOTHING_HIDDEN);
          const previous = old && runOf(at);
          const startedAt = startOf(sequence);
          await nights.run({ world: now, sequence, startedAt, verdict: "complete", previous, passthrough });
          if (old !== undefined) {
            const request = { passthrough, showsTexts: true };
            const { changed, items, lost, gained, largest } = await readMappedChanges(
              nights.connection,
              request,
            );
            assert.deepEqual({ items, lost, gained }, changesBetween(old, now, passthrough));
            assert.equal(
              largest.reduce((sum, each) => sum + each.lost, 0),
              lost,
            );
            const [before, after] = [at, sequence].map((number) => {
              return { run: runOf(number), sequence: number, verdict: "complete" as const };
            });
            if (before === undefined || after === undefined) throw new TypeError("there is no pair");
            const diff = await diffValues(nights.connection, { before, after });
            const { lost: lostThere, gained: gainedThere, payloadItems } = diff;
            assert.deepEqual([payloadItems, lostThere, gainedThere], [changed, lost, gained]);
            seen.lost += lost;
            seen.gained += gained;
          }
          old = now;
        }
      },
    ),
    {
      numRuns: many(4, 40),
      endOnFailure: true,
      examples: [
        [[0, 0, 0, 0], [...EDITS], false],
        [[0, 0, 0, 0], [...COPIES], false],
        [[0, 0, 0, 0], [...AS_IS], true],
      ],
    },
  );
  assert.ok(seen.lost > 0 && seen.gained > 0, JSON.stringify(seen));
});

/** The same by pairing the copies of each value of each item: first those alike, then the others. */
function changesBetween(old: MappingWorld, now: MappingWorld, passthrough: boolean) {
  const receives = (world: MappingWorld, id: string) =>
    world.destinations.some((each) => each.destinationId === id && each.supportsMappings !== false);
  const ids = old.destinations.map(({ destinationId }) => destinationId);
  const receivers = ids.filter((id) => receives(old, id) && receives(now, id));
  const found = { items: 0, lost: 0, gained: 0 };
  for (const item of old.items) {
    const other = now.items.find(({ contentId }) => contentId === item.contentId);
    if (other === undefined) continue;
    let isHit = false;
    for (const destinationId of receivers) {
      const was = sentCopies(old, item, destinationId, passthrough);
      const is = sentCopies(now, other, destinationId, passthrough);
      for (const [key, copies] of was) {
        const [left, right] = [[...copies], [...(is.get(key) ?? [])]];
        for (const sent of copies) {
          const at = right.indexOf(sent);
          if (at < 0) continue;
          right.splice(at, 1);
          left.splice(left.indexOf(sent), 1);
        }
        const paired = left.slice(0, right.length);
        found.lost += paired.filter((sent) => sent).length;
        found.gained += paired.filter((sent) => !sent).length;
        isHit ||= paired.includes(true);
      }
    }
    if (isHit) found.items += 1;
  }
  return found;
}

/** Whether each copy of a value is sent, by field and value. */
function sentCopies(
  world: MappingWorld,
  item: MappingWorld["items"][number],
  destinationId: string,
  passthrough: boolean,
): Map<string, boolean[]> {
  const { mappedValues } = mapItem(item, indexDefinitions(world.fields, world.destinations), { passthrough });
  const sent = new Set(
    mappedValues
      .filter((row) => row.destinationId === destinationId && row.externalFieldName !== null)
      .filter(({ status, externalValue }) =>
        status === "mapped" ? externalValue !== null : passthrough && status === "no_value_mapping",
      )
      .map(({ customFieldId, ordinal }) => `${customFieldId} ${ordinal}`),
  );
  const copies = new Map<string, boolean[]>();
  for (const { customFieldId, ordinal, input } of item.values) {
    if (input === null) continue;
    const key = `${customFieldId} ${input}`;
    copies.set(key, [...(copies.get(key) ?? []), sent.has(`${customFieldId} ${ordinal}`)]);
  }
  return copies;
}
