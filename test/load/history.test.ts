import assert from "node:assert/strict";
import { before, test } from "node:test";
import { failureText } from "../../src/storage/duckdb-error.ts";
import { runName } from "../../src/warehouse/layout.ts";
import { long, sweep } from "../long.ts";
import { type Night, Nights } from "./history-world.ts";
import type { MappingWorld } from "./mapping-tables.ts";

/** One item with two values of a multiselect, mapped at one destination. */
function worldWith(change: (world: Draft) => void = () => {}): MappingWorld {
  const draft: Draft = {
    archived: false,
    entries: { a: "alpha", b: "beta" },
    name: "topics",
    mapped: true,
    supports: true,
    inputs: ["a", "b"],
    there: true,
  };
  change(draft);
  const values = draft.inputs.map((input, ordinal) => {
    return { customFieldId: "f", ordinal, input, inputIsId: true, text: null };
  });
  const selectValues = ["a", "b", "c"].map((valueId) => {
    const text = `Text ${valueId.toUpperCase()}`;
    return { valueId, display: text, value: text, archived: valueId === "a" && draft.archived };
  });
  const entries = Object.entries(draft.entries).map(([valueId, externalValue]) => {
    return { mappingValueId: `e ${valueId}`, valueId, externalValue };
  });
  const mapping = { mappingId: "m", destinationId: "d", externalFieldName: draft.name, entries };
  const identification = draft.supports === null ? null : "Web";
  return {
    fields: [
      {
        customFieldId: "f",
        name: "topic",
        fieldType: "multiselect",
        selectValues,
        mappings: draft.mapped ? [mapping] : [],
      },
    ],
    destinations: [{ destinationId: "d", identification, supportsMappings: draft.supports }],
    items: draft.there ? [{ contentId: "i", values }] : [],
  };
}

interface Draft {
  archived: boolean;
  entries: Record<string, string>;
  name: string;
  mapped: boolean;
  /** Null: only mappings name the destination. */
  supports: boolean | null;
  inputs: string[];
  there: boolean;
}

const startOf = (sequence: number): Date => new Date(Date.UTC(2026, 0, sequence, 2));
const nameOf = (sequence: number): string => runName(sequence, startOf(sequence));

let nights: Nights;
before(async () => {
  nights = await Nights.open();
});

async function runNights(worlds: readonly (MappingWorld | Partial<Night>)[]): Promise<void> {
  for (const [at, given] of worlds.entries()) {
    const sequence = at + 1;
    const settings = "items" in given ? { world: given } : given;
    await nights.run({
      world: worldWith(),
      sequence,
      startedAt: startOf(sequence),
      verdict: "complete",
      previous: at === 0 ? undefined : nameOf(at),
      ...settings,
    });
  }
}

async function lines(sql: string): Promise<string[]> {
  return (await nights.rows(sql)).map((row) => Object.values(row).map(String).join(" | "));
}

const changes = (from: number, to: number) =>
  lines(
    `SELECT change, array_to_string(causes, ', '), value_id_before, value_id_after, external_value_before,
       external_value_after, status_after
     FROM mapped_value_changes(${from}, ${to}) ORDER BY ALL`,
  );

test("says why values change: the item was removed, or several things at once", async () => {
  const removed = worldWith((draft) => {
    draft.there = false;
  });
  await runNights([worldWith(), removed]);
  assert.deepEqual(await changes(1, 2), [
    "removed | item_removed | a | null | alpha | null | null",
    "removed | item_removed | b | null | beta | null | null",
  ]);
  const several = worldWith((draft) => {
    Object.assign(draft, { archived: true, supports: false, inputs: ["a"] });
    draft.entries.a = "first";
  });
  await runNights([worldWith(), several]);
  assert.deepEqual(await changes(1, 2), [
    "changed | mapping_changed, definition_changed | a | a | alpha | first | mapped",
    "removed | item_changed | b | null | beta | null | null",
  ]);
});

for (const [before, after] of sweep(
  [
    [true, false],
    [null, false],
    [null, true],
    [false, true],
  ] as const,
  2,
)) {
  test(`G13: a destination of which the service says something else (supports: ${before}, then ${after}) changes none of its values`, async () => {
    const supporting = (supports: boolean | null, change: (draft: Draft) => void = () => {}) =>
      worldWith((draft) => {
        draft.supports = supports;
        change(draft);
      });
    const edited = supporting(after, (draft) => {
      draft.entries.b = "second";
      draft.inputs.push("c");
      draft.entries.c = "gamma";
    });
    await runNights([supporting(before), supporting(after), edited, supporting(before)]);
    assert.deepEqual(await changes(1, 2), []);
    assert.deepEqual(await changes(2, 3), [
      "added | item_changed, mapping_changed | null | c | null | gamma | mapped",
      "changed | mapping_changed | b | b | beta | second | mapped",
    ]);
    await runNights([supporting(before), edited]);
    assert.deepEqual(await changes(1, 2), [
      "added | item_changed, mapping_changed | null | c | null | gamma | mapped",
      "changed | mapping_changed | b | b | beta | second | mapped",
    ]);
    const flags = (from: string) =>
      lines(`SELECT value_id, destination_unsupported, receives FROM ${from} ORDER BY ALL`);
    assert.deepEqual(
      await flags("mapped_value_intervals WHERE valid_to_run IS NULL"),
      await flags("content_mapped_values"),
    );
    const received = (run: number) =>
      lines(`SELECT DISTINCT receives FROM payloads_as_of('${startOf(run).toISOString()}')`);
    assert.deepEqual(
      [await received(1), await received(2)],
      [[`${before !== false}`], [`${after !== false}`]],
    );
  });
}

test("a value's row says that only its destination, or only its place, changed", async () => {
  const receiving = (supports: boolean, ...inputs: string[]) =>
    worldWith((draft) => Object.assign(draft, { supports, inputs }));
  const [one, two] = [receiving(true, "a"), receiving(true, "a", "b")];
  await runNights([one, two, receiving(true, "b", "a"), receiving(false, "b", "a"), receiving(false, "b")]);
  const rows = `SELECT value_id, valid_from_sequence, valid_to_sequence, ordinal, receives,
      array_to_string(cause::VARCHAR[], ', '), array_to_string(valid_to_cause::VARCHAR[], ', ')
    FROM mapped_value_intervals ORDER BY ALL`;
  assert.deepEqual(await lines(rows), [
    "a | 1 | 3 | 0 | true | first_seen | reordered",
    "a | 3 | 4 | 1 | true | reordered | destination_changed",
    "a | 4 | 5 | 1 | false | destination_changed | item_changed",
    "b | 2 | 3 | 1 | true | item_changed | reordered",
    "b | 3 | 4 | 0 | true | reordered | destination_changed",
    "b | 4 | null | 0 | false | destination_changed | null",
  ]);
  assert.deepEqual(
    await lines("SELECT valid_from_run, receives, cause FROM destination_history ORDER BY 1"),
    [`${nameOf(1)} | true | ["first_seen"]`, `${nameOf(4)} | false | ["destination_changed"]`],
  );
});

test("intervals join by keys: no pair of rows is compared that has other keys", async () => {
  await runNights([worldWith()]);
  const [plan = ""] = await lines("EXPLAIN (FORMAT json) FROM mapped_value_intervals");
  assert.match(plan, /HASH_JOIN/);
  assert.doesNotMatch(plan, /NL_JOIN|NESTED_LOOP|CROSS_PRODUCT/);
});

test("a value is so since what is sent became so, and its flags have dates of their own", async () => {
  const archived = (change: (draft: Draft) => void = () => {}) =>
    worldWith((draft) => {
      draft.archived = true;
      change(draft);
    });
  const renamed = archived((draft) => {
    draft.entries.a = "first";
  });
  await runNights([worldWith(), archived(), archived(), renamed]);
  const since = () =>
    lines(
      "SELECT value_id, since_run, cause, value_archived_since_run FROM mapped_value_since ORDER BY value_id",
    );
  assert.deepEqual(await since(), [
    `a | ${nameOf(4)} | ["mapping_changed"] | ${nameOf(2)}`,
    `b | ${nameOf(1)} | ["first_seen"] | null`,
  ]);
  await runNights([worldWith(), archived(), worldWith(), archived()]);
  assert.deepEqual(await since(), [
    `a | ${nameOf(1)} | ["first_seen"] | ${nameOf(4)}`,
    `b | ${nameOf(1)} | ["first_seen"] | null`,
  ]);
});

test("a name that two fields share, or no longer, is a cause of its own that names the other field", async () => {
  const withOther = (name: string | null, change: (draft: Draft) => void = () => {}) => {
    const world = worldWith(change);
    const mapping = { mappingId: "o", destinationId: "d", externalFieldName: name, entries: [] };
    const other = { customFieldId: "g", name: "other", fieldType: "text", selectValues: [] };
    return { ...world, fields: [...world.fields, { ...other, mappings: name === null ? [] : [mapping] }] };
  };
  const edited = withOther(null, (draft) => {
    draft.entries.a = "first";
  });
  const renamed = withOther("topics", (draft) => {
    draft.name = "subjects";
  });
  await runNights([withOther("others"), withOther("topics"), edited, withOther("topics"), renamed]);
  assert.deepEqual(await changes(1, 2), [
    "changed | collision_began | a | a | alpha | alpha | mapped",
    "changed | collision_began | b | b | beta | beta | mapped",
  ]);
  assert.deepEqual(await changes(2, 3), [
    "changed | collision_ended | b | b | beta | beta | mapped",
    "changed | mapping_changed, collision_ended | a | a | alpha | first | mapped",
  ]);
  assert.deepEqual(
    await changes(4, 5),
    ["a | a | alpha | alpha", "b | b | beta | beta"].map(
      (row) => `changed | mapping_changed | ${row} | mapped`,
    ),
    "the field's own name is another",
  );
  assert.deepEqual(
    await lines(
      "SELECT run, other_custom_field_id FROM run_collisions WHERE custom_field_id = 'f' ORDER BY run",
    ),
    [`${nameOf(2)} | g`, `${nameOf(4)} | g`],
  );
});

test("tells an item that comes back from a new one, with what changed meanwhile", async () => {
  const gone = worldWith((draft) => {
    draft.there = false;
  });
  const back = worldWith((draft) => {
    draft.entries.b = "second";
  });
  await runNights([worldWith(), gone, gone, back]);
  assert.deepEqual(await changes(3, 4), [
    "added | item_returned | null | a | null | alpha | mapped",
    "added | item_returned, mapping_changed | null | b | null | second | mapped",
  ]);
  assert.deepEqual(
    await lines("SELECT valid_from_run, valid_to_run, cause FROM content_history ORDER BY 1"),
    [`${nameOf(1)} | ${nameOf(2)} | ["first_seen"]`, `${nameOf(4)} | null | ["item_returned"]`],
  );
});

long(
  "removes no item by absence without evidence: an unsettled run, or an item that could not be read",
  async () => {
    const gone = worldWith((draft) => {
      draft.there = false;
    });
    const open = "SELECT count(*) FROM mapped_value_history WHERE valid_to_run IS NULL";
    await runNights([worldWith(), { world: gone, verdict: "unsettled" }]);
    assert.deepEqual(await lines(open), ["2"]);
    await runNights([worldWith(), { world: gone, unread: new Set(["i"]) }]);
    assert.deepEqual(await lines(open), ["2"]);
    await runNights([worldWith(), { world: gone, listIsWhole: false }]);
    assert.deepEqual(await lines(open), ["2"]);
    await runNights([worldWith(), { world: gone, verdict: "unsettled", confirmed: new Set(["i"]) }]);
    assert.deepEqual(await lines(open), ["0"]);
  },
);

long("a further copy of a value begins and ends by itself, because the item changed", async () => {
  const given = (...inputs: string[]) =>
    worldWith((draft) => {
      draft.inputs = inputs;
    });
  const renamed = worldWith((draft) => {
    draft.inputs = ["a", "a"];
    draft.entries.a = "first";
  });
  await runNights([given("a"), given("a", "a", "a"), given("a", "a"), renamed, given("a")]);
  assert.deepEqual(
    await lines(
      `SELECT copy, valid_from_sequence, valid_to_sequence, array_to_string(cause::VARCHAR[], ', '),
         array_to_string(valid_to_cause::VARCHAR[], ', ')
       FROM mapped_value_intervals ORDER BY ALL`,
    ),
    [
      "1 | 1 | 4 | first_seen | mapping_changed",
      "1 | 4 | 5 | mapping_changed | mapping_changed",
      "1 | 5 | null | mapping_changed | null",
      "2 | 2 | 4 | item_changed | mapping_changed",
      "2 | 4 | 5 | mapping_changed | item_changed, mapping_changed",
      "3 | 2 | 3 | item_changed | item_changed",
    ],
  );
});

long("orders runs by their number where the clock went back", async () => {
  const renamed = worldWith((draft) => {
    draft.name = "subjects";
  });
  const startedAt = new Date(Date.UTC(2025, 11, 31));
  await runNights([worldWith(), { world: renamed, startedAt }]);
  const names = (instant: string) =>
    lines(`SELECT DISTINCT external_field_name FROM mapped_values_as_of('${instant}')`);
  assert.deepEqual(await names("2025-12-31T12:00:00Z"), ["subjects"]);
  assert.deepEqual(await names("2026-01-02T00:00:00Z"), ["subjects"]);
});

test("a date means its end in UTC, and a time before the first run is an error", async () => {
  const renamed = worldWith((draft) => {
    draft.name = "subjects";
  });
  await runNights([worldWith(), { world: renamed, startedAt: new Date("2026-03-01T23:30:00Z") }]);
  const names = (instant: string) =>
    lines(`SELECT DISTINCT external_field_name FROM mapped_values_as_of(${instant})`);
  const sent = (instant: string) =>
    lines(`SELECT DISTINCT json_keys(payload)::VARCHAR FROM payloads_as_of(${instant})`);
  assert.notDeepEqual(await names("'2026-03-01T12:00:00Z'"), ["subjects"]);
  for (const date of ["'2026-03-01'", "DATE '2026-03-01'", "'2026-03-01T23:30:00Z'"])
    assert.deepEqual([await names(date), await sent(date)], [["subjects"], ["[subjects]"]], date);
  const [item = ""] = await lines("SELECT content_id, destination_id FROM mapped_value_intervals LIMIT 1");
  const ids = item
    .split(" | ")
    .map((id) => `'${id}'`)
    .join(", ");
  for (const early of ["'2025-12-31'", "DATE '2025-12-31'", "'2026-01-01T01:59:59Z'"]) {
    for (const asked of [names, sent])
      await assert.rejects(asked(early), (thrown) => {
        const said =
          /No run had started by 202\S+; the first one started at 2026-01-01 02:00:00\+00\. Ask for a later time$/;
        assert.match(failureText(thrown), said);
        return true;
      });
    assert.deepEqual(await lines(`SELECT payload_as_of(${ids}, ${early})`), ["null"]);
  }
});

test("says of a run that it does not know", async () => {
  await runNights([worldWith()]);
  for (const [asked, unknown] of [
    ["1, 7", "7"],
    ["7, 1", "7"],
    ["1, NULL", "NULL"],
    ["NULL, 1", "NULL"],
  ]) {
    await assert.rejects(
      nights.connection.run(`FROM mapped_value_changes(${asked})`),
      new RegExp(`The history knows no run ${unknown}; run_history lists those that it knows\\.`),
    );
  }
});

long("ends no definition that an unsettled run did not look up, and ends it once a run did", async () => {
  const unmapped = worldWith((draft) => {
    draft.mapped = false;
  });
  const open = `SELECT (SELECT count(*) FROM mapping_history WHERE valid_to_run IS NULL),
    (SELECT count(*) FROM mapping_value_history WHERE valid_to_run IS NULL)`;
  const unsettled = { world: unmapped, verdict: "unsettled" } as const;
  await runNights([worldWith(), { ...unsettled, lookedUp: () => false }]);
  assert.deepEqual(await lines(open), ["1 | 2"]);
  await runNights([worldWith(), unsettled]);
  assert.deepEqual(await lines(open), ["0 | 0"]);
  await runNights([worldWith(), unmapped]);
  assert.deepEqual(await lines(open), ["0 | 0"]);
  assert.deepEqual(await lines("SELECT cause, valid_to_cause FROM mapping_history"), [
    '["first_seen"] | ["mapping_changed"]',
  ]);
});
