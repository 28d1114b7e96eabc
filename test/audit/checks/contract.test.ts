import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { DYNAMIC_COLUMN_NAMES } from "../../../src/api/dynamic.ts";
import { fullItem } from "../../../src/api/full.ts";
import type { RunSummary } from "../../../src/observe/run-summary.ts";
import { failsWith } from "../../failing.ts";
import { few, long } from "../../long.ts";
import { exportFrom, MAPPING, NIGHTLY, type Row, rowsOf, SMALL, temporaryFolder } from "../../run/running.ts";
import { itemsOf, type Json, Scripted } from "../../run/scripted.ts";

type Config = Parameters<typeof exportFrom>[0]["config"];

interface Nights {
  readonly service: Scripted;
  readonly out: string;
  readonly run: (config?: Config) => Promise<RunSummary>;
}

async function nights(t: TestContext, items: readonly unknown[], pipelineUrl = SMALL): Promise<Nights> {
  const service = await Scripted.start(t, items);
  service.arrange = (items, { mode }) => items.map((item) => inView(item as Json, mode));
  const out = await temporaryFolder(t);
  const run = (config: Config = {}) =>
    exportFrom({ url: service.url, out, pipelineUrl, config: { perPage: 100, ...config } });
  return { service, out, run };
}

const KNOWN: Readonly<Record<string, ReadonlySet<string>>> = {
  dynamic: new Set(DYNAMIC_COLUMN_NAMES),
  full: new Set(Object.keys(fullItem.shape).filter((name) => name !== "next_task")),
};

/** What a view shows of an item: the fields that it has, and those that neither has. */
function inView(item: Json, mode: string): Json {
  const other = KNOWN[mode === "full" ? "dynamic" : "full"];
  return Object.fromEntries(
    Object.entries(item).filter(([name]) => KNOWN[mode]?.has(name) === true || other?.has(name) !== true),
  );
}

/** As many items, each with what `more` gives it. */
function items(count: number, more: (index: number) => Json): Json[] {
  return itemsOf(count).map((item, index) => ({ ...item, ...more(index) }));
}

function drift({ directory }: RunSummary): Promise<Row[]> {
  return rowsOf(directory, "SELECT path, kind, count::INTEGER FROM run_drift ORDER BY path, kind");
}

function misfits({ directory }: RunSummary): Promise<Row[]> {
  return rowsOf(
    directory,
    "SELECT check_name, verdict, figure::INTEGER, expected::INTEGER, detail FROM run_checks WHERE check_name LIKE '%not of its type'",
  );
}

/** Both contracts' answer to the same items: `freeze` refuses them and names the place, `evolve` publishes them. */
async function evolved(t: TestContext, given: readonly unknown[], place: string, pipelineUrl = SMALL) {
  const { out, run } = await nights(t, given, pipelineUrl);
  const error = await failsWith("contract.drift", run({ contract: "freeze" }));
  assert.equal(error.exitCode, 23);
  assert.ok(error.message.includes(`departs from it in ${place}`), error.message);
  assert.deepEqual(await readdir(out), []);
  return run();
}

test("H1: a new field is kept in extra, and counted", async (t) => {
  const given = items(3, (index) => (index === 1 ? { sentiment: { score: 0.5 } } : {}));
  const summary = await evolved(t, given, "sentiment (unknown_field)");
  assert.deepEqual(
    await rowsOf(summary.directory, "SELECT content_id, extra FROM content WHERE extra IS NOT NULL"),
    [["c-001", '{"sentiment":{"score":0.5}}']],
  );
  assert.deepEqual(await drift(summary), [["sentiment", "unknown_field", 2]]);
});

long("H2: a field that vanishes from all items leaves its column, empty, and a warning", async (t) => {
  const { service, run } = await nights(t, itemsOf(3));
  await run();
  service.items = items(3, () => ({ title: undefined, tags: undefined, wordcount: 7 }));
  const second = await run();
  assert.deepEqual(await rowsOf(second.directory, "SELECT DISTINCT title FROM content"), [[null]]);
  assert.deepEqual(second.warnings, [
    "content_tags had values in the run before, and has none now.",
    "content.title had values in the run before, and has none now.",
  ]);
  const check = "SELECT verdict, figure, detail FROM run_checks WHERE check_name LIKE 'columns and tables%'";
  assert.deepEqual(await rowsOf(second.directory, check), [["warning", "2", "content_tags, content.title"]]);
  assert.deepEqual((await run()).warnings, [], "it is told once");
});

long("H2: what was never there, what the policy takes away, and extra are not missed", async (t) => {
  const author = { id: "u-1", name: "Somebody", created_at: "2026-01-01T00:00:00Z" };
  const given = items(3, () => ({ author_details: author, unheard_of: 1, body_type: "html" }));
  const { service, run } = await nights(t, given, NIGHTLY);
  await run({ personalData: { policy: "keep", key: null } });
  service.items = items(3, () => ({ author_details: author, event_start_date: "05/04/24" }));
  const { warnings, directory } = await run();
  assert.deepEqual(await rowsOf(directory, "SELECT name FROM users"), [[null]]);
  assert.deepEqual(
    await rowsOf(directory, "SELECT count(event_end_date)::INTEGER, count(*)::INTEGER FROM content_events"),
    [[0, 3]],
  );
  assert.deepEqual(
    warnings.filter((warning) => !warning.startsWith("`personalData` is ")),
    [],
  );
});

test("H2, C15: an id that vanishes from all items, or becomes a number, ends with 23", async (t) => {
  const { service, run } = await nights(
    t,
    items(3, () => ({ id: undefined })),
  );
  const error = await failsWith("contract.drift", run());
  assert.match(error.message, /^3 of 3 listed items could not be read.*\(the item has no id\)/);
  service.items = [...itemsOf(50), ...items(21, (index) => ({ id: index }))];
  assert.match((await failsWith("contract.drift", run())).message, /the item's id is a number, not a text/);
});

test("H4: a value of another type is NULL in its column, whose type stays, and stands in extra", async (t) => {
  const given = items(30, (index) => {
    if (index > 1) return { wordcount: index };
    return index === 0 ? { wordcount: "a thousand", title: { en: "Title" } } : { wordcount: 12.5 };
  });
  const summary = await evolved(t, given, "title (type), wordcount (type)");
  const rows = await rowsOf(
    summary.directory,
    "SELECT title, wordcount, extra, typeof(wordcount) FROM content ORDER BY content_id LIMIT 3",
  );
  assert.deepEqual(rows, [
    [null, null, '{"title":{"en":"Title"},"wordcount":"a thousand"}', "BIGINT"],
    ["Title of c-001", null, '{"wordcount":12.5}', "BIGINT"],
    ["Title of c-002", "2", null, "BIGINT"],
  ]);
  assert.deepEqual(await misfits(summary), [
    ["values of content.title that are not of its type", "warning", 1, 20, "of 30 values; they are in extra"],
    [
      "values of content.wordcount that are not of its type",
      "warning",
      2,
      20,
      "of 30 values; they are in extra",
    ],
  ]);
});

long(
  "H3, H5, H8, H13: null, every kind of value, a single tag and names of ours are kept as they came",
  async (t) => {
    const kinds = ["text", 7, true, ["a", ["b"]], { deep: [1] }, null];
    const names = { content_id: "theirs", extra: { a: 1 }, run: "theirs", ordinal: 9 };
    const given = items(kinds.length, (index) => ({
      custom_fields: { "f-1": kinds[index] },
      ...(index === 0 && { excerpt: null, tags: "single" }),
      ...(index === 5 && names),
    }));
    const summary = await (await nights(t, given, NIGHTLY)).run();
    const read = (sql: string) => rowsOf(summary.directory, sql);
    assert.deepEqual(await read("SELECT DISTINCT excerpt FROM content"), [[null]]);
    const raw = `SELECT content_id FROM '${summary.directory}/raw/dynamic/*.parquet' WHERE list_contains(json_keys(document), 'excerpt')`;
    assert.deepEqual(await read(raw), [["c-000"]], "a field that is null is told from one that is absent");
    assert.deepEqual(
      await read(
        "SELECT content_id, ordinal, value, value_json FROM content_custom_field_values ORDER BY ALL",
      ),
      [
        ["c-000", 0, "text", null],
        ["c-001", 0, "7", null],
        ["c-002", 0, "true", null],
        ["c-003", 0, "a", null],
        ["c-003", 1, null, '["b"]'],
        ["c-004", 0, null, '{"deep":[1]}'],
      ],
    );
    assert.deepEqual(await read("SELECT ordinal, tag FROM content_tags WHERE content_id = 'c-000'"), [
      [0, "single"],
    ]);
    assert.ok((await drift(summary)).some((row) => String(row).startsWith("tags,single_for_list,")));
    const [[extra] = []] = await read("SELECT extra FROM content WHERE content_id = 'c-005'");
    assert.partialDeepStrictEqual(JSON.parse(String(extra)), names);
  },
);

long(
  "H6, H16: a value that the specification does not list, and a repeated slug, are kept as they came, and told",
  async (t) => {
    const states = ["production", "PRODUCTION", "legal_review", "legal_review"];
    const given = items(4, (index) => ({
      state: states[index],
      progress_stage: "planned",
      slug: `slug-${Math.min(index, 2)}`,
    }));
    const { directory } = await (await nights(t, given)).run({ contract: "freeze" });
    assert.deepEqual(
      (await rowsOf(directory, "SELECT state FROM content ORDER BY content_id")).flat(),
      states,
    );
    const checks =
      "SELECT check_name, verdict, figure, detail FROM run_checks WHERE figure > 0 AND expected = 0 ORDER BY ALL";
    assert.deepEqual(await rowsOf(directory, checks), [
      [
        "content.state has only values that the specification lists",
        "warning",
        "3",
        "legal_review, PRODUCTION",
      ],
      ["items that share a slug", "warning", "2", "join items by content_id"],
    ]);
  },
);

test("H15: one text in a date field leaves the column of content_wide a DATE, and is a warning", async (t) => {
  const field = { id: "f-end", name: "season_end", field_type: "date" };
  const { service, run } = await nights(t, [], MAPPING);
  service.script = ({ kind }) =>
    kind === "custom_fields" ? { body: [{ ...field, mappings: [] }] } : undefined;
  const night = async (...values: string[]) => {
    service.items = itemsOf(values.length);
    service.arrange = (items, { mode }) =>
      (items as Json[]).map((item, index) => ({
        ...item,
        custom_fields: mode === "full" ? [{ ...field, value: values[index] }] : { [field.id]: values[index] },
      }));
    const { directory, newWarnings } = await run();
    const wide = "SELECT season_end::VARCHAR, typeof(season_end) FROM content_wide ORDER BY content_id";
    const texts = "SELECT value FROM content_custom_field_values ORDER BY content_id";
    return {
      newWarnings,
      wide: await rowsOf(directory, wide),
      texts: (await rowsOf(directory, texts)).flat(),
    };
  };
  const first = await night("2026-11-20", "2026-12-01");
  assert.deepEqual(first.wide, [
    ["2026-11-20", "DATE"],
    ["2026-12-01", "DATE"],
  ]);
  const second = await night("2026-11-20", "end of next season");
  assert.deepEqual(second.wide, [
    ["2026-11-20", "DATE"],
    [null, "DATE"],
  ]);
  assert.deepEqual(second.texts, ["2026-11-20", "end of next season"]);
  assert.deepEqual(second.newWarnings, [
    '1 check warns since this run (values of content_wide.season_end that are not of its type: 1); "content-warehouse runs show" lists them.',
  ]);
});

long("H7, H11: from night to night the tables stay the same, whatever stands in a field", async (t) => {
  const { service, run } = await nights(
    t,
    items(2, () => ({ deleted_at: null, status: null })),
  );
  const columns = "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() ORDER BY ALL";
  const first = await run();
  const expected = await rowsOf(first.directory, columns);
  const later: Json[] = [
    { deleted_at: "2026-11-01T10:00:00Z", status: { any: ["thing"] } },
    { deleted_at: { at: "2026" }, status: "text", wordcount: "7" },
    { deleted_at: null, status: null, unheard_of: 1 },
  ];
  for (const fields of later) {
    service.items = items(2, () => fields);
    const { directory } = await run();
    assert.deepEqual(await rowsOf(directory, columns), expected);
  }
  const { directory } = await run();
  assert.ok(directory.includes("/runs/000005-"));
});

const EPOCH = 1_793_000_000;

long(
  "H9: values that are no instants are NULL, kept and counted; over a hundredth ends with 23",
  async (t) => {
    const published = (others: number) =>
      items(400, (index) => ({
        published_date: index < others ? EPOCH + index : "2026-11-01T10:00:00Z",
        wordcount: index < others ? "many" : 7,
      }));
    const { service, run } = await nights(t, published(20));
    const summary = await run();
    const rows =
      "SELECT count(*)::INTEGER, count(published_date)::INTEGER, count(extra)::INTEGER FROM content";
    assert.deepEqual(await rowsOf(summary.directory, rows), [[400, 380, 20]]);
    assert.deepEqual(
      await rowsOf(summary.directory, "SELECT extra FROM content WHERE content_id = 'c-000'"),
      [[`{"published_date":${EPOCH},"wordcount":"many"}`]],
    );
    assert.deepEqual(
      (await misfits(summary)).map((row) => row.slice(0, 4)),
      [
        ["values of content.published_date that are not of its type", "warning", 20, 20],
        ["values of content.wordcount that are not of its type", "warning", 20, 40],
      ],
    );
    service.items = published(21);
    const error = await failsWith("contract.drift", run());
    assert.equal(error.exitCode, 23);
    assert.match(error.message, /^21 of 400 values of content\.published_date do not .*limit: 20/);
  },
);

long("H10: custom fields are told apart by their IDs: names and labels are data", async (t) => {
  const field = (id: string, name: string): Json => ({
    id,
    name,
    display_label: "Label",
    field_type: "text",
  });
  const given = items(1, () => ({ custom_fields: { "f-1": "one", "f-2": "two" } }));
  const { service, run } = await nights(t, given, MAPPING);
  let name = "colour";
  service.script = ({ kind }) =>
    kind === "custom_fields" ? { body: [field("f-1", name), field("f-2", "colour")] } : undefined;
  const read = async () =>
    rowsOf(
      (await run({ customFields: ["colour", "color"] })).directory,
      "SELECT custom_field_id, name, value FROM custom_fields JOIN content_custom_field_values USING (custom_field_id) ORDER BY ALL",
    );
  assert.deepEqual(await read(), [
    ["f-1", "colour", "one"],
    ["f-2", "colour", "two"],
  ]);
  name = "color";
  assert.deepEqual(await read(), [
    ["f-1", "color", "one"],
    ["f-2", "colour", "two"],
  ]);
});

test("H12: over a tenth of a column's values of another type ends with 23; the field can be set aside", async (t) => {
  const counted = (others: number) =>
    items(300, (index) => ({ wordcount: index < others ? `about ${index}` : index }));
  const { service, out, run } = await nights(t, counted(30));
  await run();
  service.items = counted(31);
  const error = await failsWith("contract.drift", run());
  assert.match(error.message, /^31 of 300 values of content\.wordcount do not .*limit: 30/);
  assert.equal((await readdir(join(out, "runs"))).length, 1);
  const { directory } = await run({ aliases: { wordcount: "wordcount_as_sent" } });
  const rows = "SELECT wordcount, extra FROM content ORDER BY content_id LIMIT 1";
  assert.deepEqual(await rowsOf(directory, rows), [[null, '{"wordcount_as_sent":"about 0"}']]);
});

long("H12: so it is with values in lists, in described things, and in place of a whole list", async (t) => {
  const cases: readonly (readonly [(index: number) => Json, string])[] = [
    [() => ({ attachments: [{ id: "a", updated_at: EPOCH }] }), "content_attachments.updated_at"],
    [() => ({ attachments: ["just a name"] }), "content_attachments.attachment_id"],
    [() => ({ content_file: { id: "f", size: "large" } }), "content_files.size"],
    [() => ({ next_task: { id: "t", deadline: EPOCH } }), "content_next_tasks.deadline"],
    [() => ({ favorite_dates: [EPOCH] }), "content_favorites.favorite_date"],
    [() => ({ custom_fields: "none" }), "custom_fields"],
    [
      (index) => ({ content_type_details: { id: `t-${index}`, updated_at: EPOCH } }),
      "content_types.updated_at",
    ],
    [(index) => ({ campaign_details: { id: `k-${index}`, newsroom_id: 7 } }), "campaigns.instance_id"],
    [() => ({ event_start_date: 7 }), "content_events.event_start_date_text"],
  ];
  const { service, run } = await nights(t, [], NIGHTLY);
  for (const [more, place] of few(cases, 4)) {
    service.items = items(21, more);
    const { message } = await failsWith("contract.drift", run());
    assert.ok(message.startsWith(`21 of 21 values of ${place} do not have its type`), message);
  }
});

long(
  "a frozen contract passes over what departs from no specification, and names the first of what does",
  async (t) => {
    const { service, run } = await nights(t, itemsOf(3));
    await run({ contract: "freeze" });
    service.items = items(3, () => ({ tags: "single" }));
    assert.match(
      (await failsWith("contract.drift", run({ contract: "freeze" }))).message,
      / in tags \(single_for_list\);/,
    );
    service.items = items(3, () => ({ a: 1, b: 2, c: 3, d: 4, deleted_at: "yesterday" }));
    const { message } = await failsWith("contract.drift", run({ contract: "freeze" }));
    assert.match(message, / in a \(unknown_field\), b \(unknown_field\), c \(unknown_field\) and 2 more; /);
  },
);
