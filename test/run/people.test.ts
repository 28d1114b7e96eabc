/** Whole runs in which people stand where nobody specified them: nothing of them is left in the folder or in the log. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { lakeCommand } from "../../src/cli/commands/lake.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { WarehouseError } from "../../src/common/errors.ts";
import { Secret } from "../../src/common/secret.ts";
import { type Config, keyId, type PersonalSettings } from "../../src/config/config.ts";
import { personalHash } from "../../src/raw/personal/policy.ts";
import { lake } from "../../src/targets/lake/lake.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { capture } from "../cli/capture.ts";
import { failsWith } from "../failing.ts";
import { either, long } from "../long.ts";
import { itemsWith, NEEDLE, OTHER_NEEDLE, PLACES, recordingLog, rereadWithout, USER } from "./people.ts";
import {
  assertNowhereIn,
  type ExportOptions,
  HISTORY,
  MAPPING,
  NIGHTLY,
  rowsOf,
  scriptedWorld,
  temporaryFolder,
  textsIn,
  visibleIn,
} from "./running.ts";
import { item, type Json } from "./scripted.ts";

const KEY = new Secret("0123456789abcdef0123456789abcdef");
const POLICIES = {
  drop: { policy: "drop", key: null },
  hash: { policy: "hash", key: KEY },
  keep: { policy: "keep", key: null },
} as const satisfies Readonly<Record<string, PersonalSettings>>;

/** A run, and all that it said on the way, as one text. */
async function told(t: TestContext, items: readonly unknown[], config: Partial<Config>) {
  const { out, exported } = await scriptedWorld(t, items);
  const { log, lines } = recordingLog();
  const summary = await exported({
    log,
    pipelineUrl: NIGHTLY,
    config: { perPage: 100, ...config },
  });
  return { out, summary, said: inspect([lines, summary], { depth: 20, maxStringLength: null }) };
}

for (const [policy, form] of [
  ["drop", test],
  ["hash", long],
  ["keep", long],
] as const) {
  form(`a person in the place of any user, in all forms, in both modes: ${policy}`, async (t) => {
    const { summary, said } = await told(t, itemsWith(PLACES), { personalData: POLICIES[policy] });
    if (policy === "keep") {
      const found = (await textsIn(summary.directory)).filter(({ text }) => text.includes(NEEDLE));
      for (const kind of [
        "content-",
        "run_drift",
        "run_rejects",
        "dynamic",
        "report.html",
        "warehouse.duckdb",
      ])
        assert.ok(
          found.some(({ path }) => path.includes(kind)),
          kind,
        );
      return;
    }
    await assertNowhereIn(summary.directory, [NEEDLE, OTHER_NEEDLE, KEY.reveal()]);
    assert.ok(!said.includes(NEEDLE) && !said.includes(OTHER_NEEDLE));
    const email = policy === "drop" ? null : personalHash(Buffer.from(KEY.reveal()), "email", USER.email);
    const users = "SELECT DISTINCT email, tz FROM users WHERE user_id = 'u-1'";
    assert.deepEqual(await rowsOf(summary.directory, users), [[email, "Europe/Vienna"]]);
    const { keyId: named } = (await readManifest(summary.directory)).asked.personalData;
    assert.equal(named, policy === "drop" ? null : keyId(KEY));
    const treated = `SELECT path FROM run_drift WHERE kind = 'personal_${policy === "drop" ? "dropped" : "hashed"}'`;
    const paths = (await rowsOf(summary.directory, treated)).flat();
    for (const path of ["author_details.email", "authorEmail", "reviewer.contact_email", "contact_email"])
      assert.ok(paths.includes(path), `${path} is not among ${paths.join(", ")}`);
  });
}

test("S24: a person whom the service erased is nowhere once all was read again and what was kept before is removed", async (t) => {
  const folder = await temporaryFolder(t);
  const url = pathToFileURL(join(folder, "lake")).href;
  const target = lake({ url, instance: "one" });
  const { out, summary, said } = await rereadWithout(t, [target]);
  const standsIn = async (place: string) => (await textsIn(place)).some(({ text }) => text.includes(NEEDLE));
  assert.deepEqual([await standsIn(out), await standsIn(join(folder, "lake"))], [true, true]);
  await writeFile(
    join(folder, "content-warehouse.config.json"),
    JSON.stringify({ warehouse: out, targets: [{ type: "lake", url, instance: "one" }] }),
  );
  await capture(runsCommand, ["prune", "--keep", "1", "--warehouse", out]);
  await capture(lakeCommand, ["vacuum", "--all-versions"], undefined, { cwd: folder });
  await assertNowhereIn(out, [NEEDLE]);
  await assertNowhereIn(join(folder, "lake"), [NEEDLE]);
  assert.ok(!said.includes(NEEDLE), "the log and the summary");
  const last = await target.last(null, new AbortController().signal);
  assert.equal(last?.run, summary.run);
  // What is not personal stays, and its history with it.
  const users = "SELECT DISTINCT user_id FROM users WHERE user_id = 'u-1'";
  assert.deepEqual(await rowsOf(join(out, "current"), users), [["u-1"]]);
  assert.deepEqual(await rowsOf(join(out, "current"), "SELECT sequence FROM run_history ORDER BY ALL"), [
    [1],
    [2],
  ]);
});

const MENTION = "ask needle.ops@example.com or <needle@example.com>, not @needle";

for (const policy of ["drop", "hash", "keep"] as const) {
  test(`J7: addresses in the service's words, in the log and in the error of a run: ${policy}`, async (t) => {
    const { service, exported } = await scriptedWorld(t, [item("c-1", 1)]);
    const { log, lines } = recordingLog();
    const night = () => exported({ log, config: { personalData: POLICIES[policy] } });
    let asked = 0;
    service.script = () => {
      asked += 1;
      const headers = { "retry-after": "0" };
      return asked === 1 ? { status: 429, headers, body: { error: MENTION } } : undefined;
    };
    await night();
    service.script = () => ({ status: 401, body: { error: MENTION } });
    const { message, stack } = await failsWith("source.credentials", night());
    const words = /ask \S+ or <?\S+, not @needle/;
    const texts = [inspect(lines), message, String(stack)];
    for (const text of texts) {
      assert.match(text, words);
      assert.equal(text.includes("@example.com"), policy === "keep", text);
    }
  });
}

const ODD_TEXTS = [
  "[@agency](http://@agency) and [desk](https://jane:secret@h.example/?m=jane@x.example)",
  '<p>By <a href="http://team@office.example/?to=jane%40x.example">us</a></p>',
  "https://jane:secret@h.example https://h.example/?m=jane@x.example",
  JSON.stringify({ url: "https://jane:secret@h.example", to: ["//jane@h.example"] }),
  "https://medium.example/@jane",
  "jane@x.example",
];

test("J6: texts with URLs come out as they were served, two nights long, and a check counts credentials", async (t) => {
  const { out, exported } = await scriptedWorld(
    t,
    ODD_TEXTS.map((title, index) =>
      item(`c-${index}`, index, { title, custom_field_values: { cf: [title] } }),
    ),
  );
  for (const policy of ["drop", "hash"] as const) {
    await exported({ pipelineUrl: NIGHTLY, config: { personalData: POLICIES[policy] } });
    const directory = join(out, "current");
    const titles = await rowsOf(directory, "SELECT title FROM content ORDER BY content_id");
    assert.deepEqual(titles.flat(), ODD_TEXTS);
    const values = "SELECT value FROM content_custom_field_values ORDER BY content_id";
    assert.deepEqual((await rowsOf(directory, values)).flat(), ODD_TEXTS);
    const check =
      "SELECT verdict, figure, detail FROM run_checks WHERE check_name = 'texts with credentials in a URL'";
    assert.deepEqual(await rowsOf(directory, check), [
      ["warning", "12", "content.extra (4), content.title (4), content_custom_field_values.value (4)"],
    ]);
  }
});

const TEAM = "0887-team";
const MAIL = "needle.team@example.com";
const OTHER = "needle.other@example.com";
const FIELD = { id: TEAM, name: "owner_team", field_type: "select", display_label: "Team" };
const VALUES = [
  { id: "v-1", display: MAIL, value: MAIL, archived: false },
  { id: OTHER, display: OTHER, value: OTHER, archived: true },
];
const COLOR = { id: "cf-color", name: "customer_phone", field_type: "text", display_label: "Color" };

const byMode = {
  full: {
    custom_fields: [
      {
        ...FIELD,
        value: MAIL,
        default_value: OTHER,
        select_values: [MAIL, OTHER],
        select_value_ids: { "v-1": MAIL, [OTHER]: OTHER },
        formatted_select_values: VALUES,
        archived_value_ids: [OTHER],
      },
      { ...COLOR, value: "red" },
    ],
    crm_note: `called ${MAIL}`,
    repository_notes: MAIL,
  },
  dynamic: {
    custom_fields: { [TEAM]: ["v-1", OTHER], "cf-color": "red" },
    custom_field_values: { [TEAM]: [MAIL, OTHER], "cf-color": "red" },
    custom_field_value_ids: { [TEAM]: ["v-1", OTHER] },
    custom_fields_details: [
      { id: TEAM, field_type: "multiselect", value: [MAIL, OTHER], value_id: ["v-1", OTHER] },
      { id: "cf-color", field_type: "text", value: "red", value_id: null },
    ],
    previewable_custom_field_values: { [TEAM]: MAIL },
    repository_notes: MAIL,
    nested: { crm_note: { by: MAIL }, labels: { [TEAM]: MAIL } },
  },
} as const;

const DEFINITIONS = [
  {
    ...FIELD,
    field_type: "multiselect",
    formatted_select_values: VALUES,
    mappings: [
      {
        id: "m-1",
        field_name: "team",
        external_site_id: "d-1",
        values: [
          { id: "entry-a", value_id: "v-1", value: `web:${MAIL}` },
          { id: "entry-b", value_id: OTHER, value: `web:${OTHER}` },
        ],
      },
    ],
  },
  { ...COLOR, formatted_select_values: null, mappings: [] },
];

/** A service of two items with a custom field that holds e-mail addresses, mapped for a destination; and runs. */
async function teamWorld(t: TestContext) {
  const { service, out, exported } = await scriptedWorld(t, [
    item("c-1", 1),
    item("c-2", 2),
    { title: "No ID" },
  ]);
  service.arrange = (items, { mode }) =>
    items.map((each) => ({ ...(each as Json), ...(mode === "dynamic" ? byMode.dynamic : byMode.full) }));
  service.script = ({ kind, mode }) => {
    if (kind === "destinations")
      return {
        body: [
          { id: "d-1", identification: "Web", platform: "External", supports_custom_field_mappings: true },
        ],
      };
    if (kind === "custom_fields") return { body: DEFINITIONS };
    return kind === "item"
      ? { body: { response: { ...item("c-1", 1), ...byMode[mode === "full" ? "full" : "dynamic"] } } }
      : undefined;
  };
  const run = (config: Partial<Config> = {}, options: Partial<ExportOptions> = {}) =>
    exported({
      pipelineUrl: HISTORY,
      ...options,
      config: {
        destinations: [{ name: "Web", platform: "External" }],
        personalFields: ["owner_team", "repository_notes", "crm_note"],
        aliases: { crm_note: "crm_note" },
        ...config,
      },
    });
  return { service, out, run };
}

async function exportTeam(t: TestContext, config: Partial<Config>, pipelineUrl = HISTORY) {
  const { run } = await teamWorld(t);
  const { log, lines } = recordingLog();
  const { directory, ...summary } = await run(config, { log, pipelineUrl });
  return { directory, said: inspect([lines, summary], { depth: 20, maxStringLength: null }) };
}

const LOOK_PERSONAL = `
  SELECT verdict, figure, detail FROM run_checks
  WHERE check_name = 'custom fields that look personal and are published'`;
const SETTING = "the setting is personalFields";

test("J4: a custom field that looks personal, by its name or its values, is named", async (t) => {
  const { directory, said } = await exportTeam(t, { aliases: {}, personalFields: [] }, MAPPING);
  const phone = "customer_phone (2 values)";
  const mapped = "e-mail addresses in 2 of 2 external values";
  const team = `owner_team (e-mail addresses in 4 of 4 values, ${mapped})`;
  assert.deepEqual(await rowsOf(directory, LOOK_PERSONAL), [
    ["warning", "2", `${phone}, ${team}; ${SETTING}`],
  ]);
  assert.match(said, /Custom fields that look personal/);
});

test("J4: personalFields with drop: the run knows the field, and nothing that it ever held", async (t) => {
  const { directory, said } = await exportTeam(t, {});
  await assertNowhereIn(directory, ["needle.", "v-1"]);
  assert.ok(!said.includes("needle."));
  const phone = `customer_phone (2 values); ${SETTING}`;
  assert.deepEqual(await rowsOf(directory, LOOK_PERSONAL), [["warning", "1", phone]]);
  const fields = "SELECT name, display_label FROM custom_fields ORDER BY name";
  assert.deepEqual(await rowsOf(directory, fields), [
    ["customer_phone", "Color"],
    ["owner_team", "Team"],
  ]);
  const values = "SELECT DISTINCT custom_field_id, value FROM content_custom_field_values";
  assert.deepEqual(await rowsOf(directory, values), [["cf-color", "red"]]);
  assert.deepEqual(await rowsOf(directory, "SELECT count(*) FROM content_mapped_values"), [["0"]]);
  const dropped = await rowsOf(directory, "SELECT path FROM run_drift WHERE kind = 'personal_dropped'");
  for (const path of [
    "crm_note",
    "custom_field_definition.owner_team",
    "custom_field_value_ids.owner_team",
    "custom_field_values.owner_team",
    "custom_fields.owner_team",
    "custom_fields_details.owner_team",
    "nested.crm_note",
    "nested.labels.0887-team",
    "previewable_custom_field_values.owner_team",
    "repository_notes",
  ])
    assert.ok(dropped.flat().includes(path), `${path} is not among ${dropped.flat().join(", ")}`);
});

long(
  "personalFields with hash: IDs, texts and external values are hashed alike, so that rows still join",
  async (t) => {
    const { directory, said } = await exportTeam(t, { personalData: POLICIES.hash });
    await assertNowhereIn(directory, ["needle.", "v-1"]);
    assert.ok(!said.includes("needle."));
    const hash = (value: string) => personalHash(Buffer.from(KEY.reveal()), "owner_team", value);
    const joined = `SELECT DISTINCT v.value_id, v.value, s.value, m.external_value
    FROM content_custom_field_values v
    JOIN custom_field_select_values s USING (custom_field_id, value_id)
    JOIN content_mapped_values m ON m.content_id = v.content_id AND m.ordinal = v.ordinal
    ORDER BY v.value = '${hash(OTHER)}'`;
    assert.deepEqual(await rowsOf(directory, joined), [
      [hash("v-1"), hash(MAIL), hash(MAIL), hash(`web:${MAIL}`)],
      [hash(OTHER), hash(OTHER), hash(OTHER), hash(`web:${OTHER}`)],
    ]);
    const payload = "SELECT DISTINCT payload::VARCHAR FROM content_external_payloads";
    const expected = { team: [hash(`web:${MAIL}`), hash(`web:${OTHER}`)] };
    assert.deepEqual(
      (await rowsOf(directory, payload)).map(([text]) => JSON.parse(String(text))),
      [expected],
    );
    const notes = "SELECT DISTINCT repository_notes FROM content";
    assert.deepEqual(await rowsOf(directory, notes), [
      [personalHash(Buffer.from(KEY.reveal()), "repository_notes", MAIL)],
    ]);
  },
);

test("a name in personalFields that nothing has ends with 2 before anything is read, and names the nearest", async (t) => {
  const { service, out, run } = await teamWorld(t);
  const refused = (...personalFields: string[]) => failsWith("config.invalid", run({ personalFields }));
  const { message } = await refused("ownr_team");
  assert.equal(
    message,
    '`personalFields`: neither a custom field nor an API field has the name "ownr_team". The nearest is "owner_team". ' +
      'If the service sends an API field of that name, add it to `aliases`: { "ownr_team": "ownr_team" }.',
  );
  assert.match((await refused("repositry_notes")).message, /The nearest is "repository_notes"\./);
  assert.deepEqual(await visibleIn(out), []);
  const asked = service.questions.map(({ kind, mode, page }) => `${kind} ${mode} ${page}`);
  assert.deepEqual([...new Set(asked)], ["custom_fields dynamic 0", "list full 1"]);
});

long("a run that was interrupted is resumed, but not where the fields have other IDs since", async (t) => {
  const { service, run } = await teamWorld(t);
  const answer = service.script;
  const { log, lines } = recordingLog();
  const isResumed = async () => {
    const ended = new AbortController();
    service.script = (question) => {
      if (question.kind === "list" && question.mode === "full")
        ended.abort(new WarehouseError("run.interrupted", "Ended early."));
      return answer(question);
    };
    lines.length = 0;
    await assert.rejects(run({}, { log, signal: ended.signal }));
    return inspect(lines).includes("Resuming an interrupted run.");
  };
  assert.deepEqual([await isResumed(), await isResumed()], [false, true]);
  const others = { body: [...DEFINITIONS, { ...DEFINITIONS[0], id: "another" }] };
  service.script = (question) => (question.kind === "custom_fields" ? others : answer(question));
  assert.equal((await run()).resumed, null);
});

long(
  "a field that becomes personal leaves nothing in the histories, which begin anew for it alone",
  async (t) => {
    const { run } = await teamWorld(t);
    const night = async (personalFields: readonly string[], warned: boolean) => {
      const config = { aliases: {}, personalFields, personalData: POLICIES.hash, keepRuns: 9 };
      const { directory, warnings } = await run(config);
      assert.equal(/history of 1 custom field starts over/.test(warnings.join()), warned);
      return directory;
    };
    const versions = async (directory: string) => {
      const tables = [
        "mapped_value_history",
        "select_value_history",
        "mapping_value_history",
        "content_history",
      ];
      const counts = tables.map((name) => `SELECT count(*)::INTEGER FROM ${name} WHERE valid_to_run IS NULL`);
      const past = await rowsOf(
        directory,
        `SELECT count(*)::INTEGER FROM run_history UNION ALL ${counts.join(" UNION ALL ")}`,
      );
      return past.flat();
    };
    const before = await night([], false);
    const covered = await night(["owner_team"], true);
    const texts = await textsIn(covered);
    const histories = texts.filter(({ path }) => /history/.test(path));
    assert.ok(histories.length >= 8);
    for (const { path, text } of histories) assert.ok(!text.includes("needle."), path);
    assert.deepEqual(await versions(before), [1, 4, 2, 2, 2]);
    assert.deepEqual(await versions(covered), [2, 4, 2, 2, 2]);
    const kept = "SELECT DISTINCT valid_from_run = (SELECT min(run) FROM run_history) FROM ";
    assert.deepEqual(await rowsOf(covered, `${kept} content_history`), [[true]]);
    assert.deepEqual(await rowsOf(covered, `${kept} mapped_value_history`), [[false]]);
    if (either(true, false)) return;
    // From then on both are treated alike.
    assert.deepEqual(await versions(await night(["owner_team"], false)), [3, 4, 2, 2, 2]);
  },
);

test("a field of the name that the lookup did not give ends the run before anything is published", async (t) => {
  const { service, out, run } = await teamWorld(t);
  const arrange = service.arrange;
  service.arrange = (items, question) =>
    arrange(items, question).map((each) => {
      const { custom_fields: fields } = each as { custom_fields: unknown };
      if (!Array.isArray(fields)) return each;
      return { ...(each as Json), custom_fields: [...fields, { ...FIELD, id: "another", value: MAIL }] };
    });
  const { message } = await failsWith("source.protocol", run());
  assert.match(message, /"owner_team" of `personalFields` has the ID another/);
  assert.deepEqual(await visibleIn(out), []);
});
