/** A run built again from its raw documents, its facts and the run before: equal but for when its tables were built. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { readRawFolder } from "../../src/raw/raw-folder.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { rollback } from "../../src/warehouse/retention.ts";
import { long, sweep } from "../long.ts";
import { assertSameReport, assertSameRun, builtAgain } from "./again.ts";
import { exportFrom, NIGHTLY, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, item, itemsOf, type Question, Scripted } from "./scripted.ts";

const COLOR = (
  external: string,
) => `{"id":"f1","name":"color","field_type":"select","limit":12345678901234567890,
  "formatted_select_values":[{"id":"v1","display":"Red"}],
  "mappings":[{"id":"m1","external_site_id":"d1","field_name":"colour",
    "values":[{"id":"e1","value_id":"v1","value":"${external}"}]}]}`;

/** Listings in which every item has a value of the custom field. */
function withColor(items: readonly unknown[], { mode }: Question): unknown[] {
  const field = {
    id: "f1",
    name: "color",
    field_type: "select",
    value: "Red",
    select_value_ids: { v1: "Red" },
  };
  const color = {
    dynamic: { custom_fields: { f1: "Red" }, custom_field_value_ids: { f1: "v1" } },
    full: { custom_fields: [field] },
    basic: {},
  };
  return items.map((each) => ({ ...(each as Item), ...color[mode] }));
}

/** A service, and a warehouse of its nights. */
async function scripted(t: TestContext) {
  const service = await Scripted.start(t, itemsOf(30));
  service.arrange = withColor;
  const out = await temporaryFolder(t);
  let external = "rouge";
  /** Of the first night alone. */
  let mall = `,{"id":"d2","identification":"Mall","platform":"External"}`;
  const answer = ({ kind }: Question) => {
    if (kind === "destinations")
      return {
        body: `[{"id":"d1","identification":"Shop","platform":"External","contact_email":"a@b.example"}${mall}]`,
      };
    return kind === "custom_fields" ? { body: `[${COLOR(external)}]` } : undefined;
  };
  service.script = answer;
  const config = {
    perPage: 5,
    details: "all",
    destinations: [
      { name: "Shop", platform: "External" },
      { name: "Mall", platform: "External" },
    ],
    personalData: { policy: "drop", key: null },
  } as const;
  return {
    service,
    answer,
    folder: outputFolder(out),
    translate: (to: string) => {
      external = to;
    },
    run: async () => {
      const summary = await exportFrom({ url: service.url, out, pipelineUrl: NIGHTLY, config });
      mall = "";
      return summary;
    },
  };
}

type Nights = Awaited<ReturnType<typeof scripted>>;

/** Before it an item is removed and one is hidden, in it one is edited, one vanishes and one cannot be read singly. */
async function secondNight({ service, answer, run }: Nights) {
  // What cannot be read singly is asked for because the listing says that it was edited.
  service.items = itemsOf(30)
    .filter(({ id }) => id !== "c-004")
    .map((each) => (each.id === "c-011" ? { ...each, title: "Refused" } : each));
  service.arrange = (items, question) =>
    withColor(
      items.filter((each) => (each as Item).id !== "c-029"),
      question,
    );
  let changed = false;
  service.script = (question) => {
    if (question.kind === "item" && question.id === "c-011") return { body: { response: 5 } };
    if (!changed && question.kind === "list" && question.mode === "full") {
      changed = true;
      const edited = item("c-005", 5, { title: "Edited", updated_at: "2026-11-02T10:00:00Z" });
      service.items = service.items
        .filter((each) => (each as Item).id !== "c-007")
        .map((each) => ((each as Item).id === "c-005" ? edited : each));
    }
    return answer(question);
  };
  return run();
}

long(
  "nights with edited, vanished, removed, unlisted, rejected and returned items are built again",
  async (t) => {
    const nights = await scripted(t);
    const first = await nights.run();
    const second = await secondNight(nights);
    assert.deepEqual([second.verdict, second.accounting.vanished], ["complete", 1]);
    nights.service.items = itemsOf(30);
    nights.service.script = nights.answer;
    nights.translate("red");
    const third = await nights.run();
    await rollback(nights.folder, second.run);
    nights.translate("vermeil");
    const fork = await nights.run();
    assert.deepEqual([third.previousRun, fork.previousRun], [second.run, second.run]);

    const { directory } = second;
    for (const [table, rows] of [
      ["content", "28"],
      ["content_mapped_values", "26"],
      ["destinations", "1"],
      ["mapped_value_history", "30"],
      ["run_rejects", "1"],
    ])
      assert.deepEqual(await rowsOf(directory, `SELECT count(*) FROM ${table}`), [[rows]], table);
    await assertDocumented(directory);
    for (const { directory: night } of sweep([second, third, first, fork], 2)) {
      const made = await builtAgain(t, { directory: night });
      assert.equal((await assertSameRun(night, made))[0], 55);
      await assertSameReport(night, made);
    }
  },
);

/** The page on raw documents says which count, and the facts are read as they were stated. */
async function assertDocumented(directory: string): Promise<void> {
  const { facts, takeItems } = await readRawFolder(join(directory, "raw"));
  const { vanished, removed, unlisted, detailsRejected, asked, unmatched } = facts;
  assert.deepEqual(
    [vanished, removed, unlisted, detailsRejected],
    [["c-007"], ["c-004"], ["c-029"], ["c-011"]],
  );
  assert.deepEqual([asked.shapes, asked.singleItems], [["dynamic", "full"], "all"]);
  assert.deepEqual(unmatched.destinations, [{ name: "Mall", platform: "External" }]);
  const text = await readFile(join(directory, "raw/extract.json"), "utf8");
  assert.deepEqual(Object.keys(JSON.parse(text)), Object.keys(JSON.parse(text)).toSorted());
  const readme = await readFile(packagePath("src/raw/README.md"), "utf8");
  const [, statement = ""] = /```sql\n(.*?);\n```/s.exec(readme) ?? [];
  const listed = await rowsOf(directory, statement.replaceAll("'raw/", `'${directory}/raw/`));
  const { items, index } = takeItems();
  const counting = Array.from(items.sorted(), (each) =>
    items.idOf(each) === "c-007" ? [] : index.counting(each).map(() => items.idOf(each)),
  );
  assert.deepEqual(
    listed.map(([id]) => id),
    counting.flat(),
  );
}
