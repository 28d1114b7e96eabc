import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { auditCommand } from "../../../src/cli/commands/audit.ts";
import { diffCommand } from "../../../src/cli/commands/diff.ts";
import { reportCommand } from "../../../src/cli/commands/report.ts";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { capture } from "../../cli/capture.ts";
import { long } from "../../long.ts";
import { parsePage, tableRecords } from "./dom.ts";
import { pageItems } from "./page-data.ts";
import { HOSTILE, twoNights } from "./warehouse.ts";

const nights = await twoNights();
const page = await readFile(join(nights.out, "current", "report.html"), "utf8");
const root = parsePage(page);

/** Elements and attributes that the page is made of; a title can bring none. */
const ELEMENTS =
  "a bdi body button caption code dd details dialog div dl dt em footer form h1 h2 h3 head header html input label li main " +
  "meta nav noscript p pre script section small span strong style summary table tbody td th thead time title tr ul";
const ATTRIBUTES =
  "aria-hidden aria-label aria-labelledby autocomplete charset class content data-value datetime for hidden href http-equiv " +
  "id lang name open placeholder role scope spellcheck tabindex type";

test("hostile texts make no element, no attribute and no address", () => {
  const elements = new Set(ELEMENTS.split(" "));
  const attributes = new Set(ATTRIBUTES.split(" "));
  for (const element of root.descendants()) {
    assert.ok(elements.has(element.localName), element.localName);
    for (const [name, value] of element.attributes) {
      assert.ok(attributes.has(name), `${element.localName} ${name}`);
      if (name === "href") assert.match(value, /^#([a-zA-Z_-]+|item=[0-9a-f]+)$/);
    }
  }
  assert.equal(root.all("script").length, 2, "its own and the items");
  assert.equal(root.all("style").length, 1);
});

const COMMANDS = { audit: auditCommand, diff: diffCommand, runs: runsCommand } as const;
const answers = new Map<string, Promise<string>>();

/** What a command answers, which is asked once. */
async function asked(command: keyof typeof COMMANDS, ...args: string[]) {
  const of = [...args, "--warehouse", nights.out, "--format", "json"];
  const question = [command, ...args].join(" ");
  const answer = answers.get(question) ?? capture(COMMANDS[command], of);
  answers.set(question, answer);
  return JSON.parse(await answer);
}
type Json = Readonly<Record<string, unknown>>;

/** The members of a row in JSON by the headings that they have in a page, where that is not their name. */
const HEADS: Readonly<Record<string, string>> = {
  unknown_value: "unknown",
  without_external_value: "without external value",
  no_value_mapping: "not sent",
  entries_unused: "unused",
  custom_field: "field",
  custom_fields: "fields",
  external_field_name: "external name",
  field_type: "type",
  alike: "no payload change",
  content_id: "item",
  path: "field",
  exampleContentId: "item",
  meaning: "what",
  check_name: "check",
  figure: "counted",
  distinct_items: "items",
  duplicates: "repeats",
  bytes: "received",
  parquet_bytes: "Parquet",
  took_ms: "took",
  size_bytes: "size",
};
const STAND_INS: Readonly<Record<string, string>> = {
  destination: "destination_id",
  custom_field: "custom_field_id",
  value: "value_id",
};

/** A character that cannot be seen, as a page shows it. */
const visible = (text: string) => `[U+${text.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`;

/** Each cell of a table of the page is what the command says there; returns how many cells there are. */
function assertTable(caption: string, rows: readonly Json[]): number {
  const records = tableRecords(root, caption, { raw: true });
  const expected = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, cell]) => {
        const head = HEADS[name] ?? name.replaceAll("_", " ");
        const told = Array.isArray(cell) ? cell.join(", ") : cell;
        const text = String(told ?? row[STAND_INS[name] ?? ""] ?? "");
        return Object.hasOwn(records[0] ?? {}, head)
          ? [[head, text.replaceAll(/\p{Cf}/gu, visible).trim()]]
          : [];
      }),
    ),
  );
  const order = (some: readonly object[]) =>
    some.map((each) => JSON.stringify(each, Object.keys(records[0] ?? {}))).sort();
  assert.deepEqual(order(records), order(expected), caption);
  return records.flatMap((record) => Object.keys(record)).length;
}

test("each figure of a table is the one that a command gives", async () => {
  const audit = await asked("audit");
  const diff = await asked("diff", "--items");
  const content = await asked("diff", "--content");
  const isSent = ({ change }: Json) => change !== "alike";
  const drift = await asked("runs", "show", "--section", "drift");
  const show = await asked("runs", "show", "current");
  const runs = await asked("runs");
  const without = (row: Json) => row.status === "unmapped" || row.status === "unknown_value";
  const captions: Record<string, Json[]> = {
    "Coverage, in values": audit.coverage,
    "Mapping entries that no item uses": audit.unused_entries,
    "Fields with values that no destination maps": audit.unmapped_fields,
    "Many-to-one values": audit.many_to_one,
    Destinations: audit.destinations,
    "Values without an external value": audit.values.filter(without),
    "Mapped values that are archived or ambiguous": audit.values.filter((row: Json) => !without(row)),
    "Changes by cause": diff.causes,
    "Changes of definitions": diff.definitions,
    "What changed in the mapped values": diff.lines.filter(isSent),
    "No payload change": diff.lines.filter((row: Json) => !isSent(row) && row.reception === "receiving"),
    "Changes of content": content.columns,
    // Of what only the run before has a page has no title.
    "Items whose content changed": content.content_items.map((row: Json) =>
      row.change === "removed" ? { ...row, title: null } : row,
    ),
    "New fields (not in the specification)": drift.newFields,
    "Values outside the contract": drift.outsideContract,
    "Done by the personal-data policy": drift.policy,
    Checks: show.checks.filter(({ verdict }: Json) => verdict !== "passed"),
    "Failing rows": show.failing_rows,
    "Passes over the listing": show.passes,
    "Runs before this one": runs.runs
      .slice(1)
      .map(
        ({ without_external_value: without, without_external_value_receiving: receiving, ...row }: Json) => ({
          ...row,
          without,
          receiving,
        }),
      ),
    Requests: show.requests,
    Tables: show.tables,
  };
  for (const [caption, rows] of Object.entries(captions).filter(([, { length }]) => length > 0))
    assert.ok(assertTable(caption, rows) > 0, caption);
  const others = root
    .all("table caption")
    .map(({ textContent }) => textContent)
    .filter((caption) => !Object.hasOwn(captions, caption));
  assert.deepEqual(
    others.map((caption) => caption.split(",")[0]),
    ["Item by item", "Items"],
    "all tables were compared, but for one of more rows than a page has, and the search",
  );
});

long(
  "of more changes than a page has each cause at receiving destinations has its share, and the page says how many more there are",
  async () => {
    const { items } = (await asked("diff", "1", "2", "--items")) as Record<"items", Record<string, string>[]>;
    const sent = items.filter(({ change }) => change !== "alike");
    const rows = tableRecords(root, "Item by item");
    assert.ok(sent.length > 500);
    assert.equal(rows.length, 500);
    const told = (row: Record<string, string | null>, item: string | null | undefined) =>
      [item, row.cause, row.destination, row.value ?? "", row.before, row.after].join(" | ");
    const known = new Set(
      sent.map((row) =>
        told({ ...row, destination: row.destination ?? row.destination_id ?? "" }, row.content_id),
      ),
    );
    for (const row of rows) assert.ok(known.has(told(row, row.item)), told(row, row.item));
    const countsOf = (some: readonly Record<string, string>[]) =>
      [...Map.groupBy(some, ({ cause }) => cause)].map(([cause, those]) => ({ cause, count: those.length }));
    const shown = new Map(countsOf(rows).map(({ cause, count }) => [cause, count]));
    const share = 500 / shown.size;
    const received = sent.filter(({ reception }) => reception === "receiving");
    for (const { cause, count } of countsOf(received)) {
      assert.ok((shown.get(cause) ?? 0) >= Math.min(count, Math.floor(share)), cause);
    }
    const note = root.all("#changes-items .note").at(-1)?.textContent ?? "";
    const more = (sent.length - 500).toLocaleString("en-US");
    assert.equal(note, `${more} more rows: content-warehouse diff 1 2 --items --format csv has all.`);
  },
);

long("a page that is made again is the same, byte by byte", async () => {
  const target = join(nights.out, "..", "again.html");
  for (const run of nights.runs) {
    await capture(
      (given) => reportCommand({ ...given, err: given.out }),
      [run, "--warehouse", nights.out, "--out", target],
    );
    const own = join(nights.out, "runs", run, "report.html");
    assert.equal(await readFile(target, "utf8"), await readFile(own, "utf8"), run);
  }
});

test("the data of the items cannot end their element, and are what the service sent", () => {
  const items = pageItems(page);
  for (const [name, id] of nights.hostile) {
    assert.equal(items.get(id)?.title, HOSTILE[name as keyof typeof HOSTILE]);
  }
  const told = [...items.values()].flatMap(({ values }) => values);
  for (const text of [HOSTILE.external, HOSTILE.externalName])
    assert.ok(
      told.some((each) => each.includes(text)),
      text,
    );
});

test("the policy of the page allows its own style and script, by their hashes, and nothing else", () => {
  const policy = root.first("meta[http-equiv=Content-Security-Policy]")?.get("content") ?? "";
  const hash = (text: string | undefined) =>
    `'sha256-${createHash("sha256")
      .update(text ?? "")
      .digest("base64")}'`;
  const script = root.all("script").find((each) => each.get("type") === null)?.textContent;
  const style = root.first("style")?.textContent;
  assert.deepEqual(policy.split("; "), [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
});

test("the page has one heading of the first level, landmarks, and names for all that can be worked with", () => {
  assert.equal(root.all("h1").length, 1);
  for (const landmark of ["header", "nav", "main", "footer"]) assert.ok(root.first(landmark), landmark);
  const labelled = new Set(root.all("label").map((label) => label.get("for")));
  for (const field of [...root.all("input"), ...root.all("select")]) {
    assert.ok(labelled.has(field.get("id")), field.get("id") ?? "");
  }
  for (const table of root.all("table")) {
    assert.ok(table.first("caption")?.textContent, "a caption");
    assert.ok(table.first("thead th[scope=col]"), "heads");
  }
  const ids = [...root.descendants()].flatMap((element) => element.get("id") ?? []);
  assert.equal(new Set(ids).size, ids.length, "each address once");
});
