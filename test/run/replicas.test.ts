/** Services that answer requests from states of different age, or whose modes mean different times. */
import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { few, long } from "../long.ts";
import { exportFrom, HISTORY, HurriedClock, rowsOf, SMALL, temporaryFolder } from "./running.ts";
import { type Item, itemsOf, type Question, Scripted } from "./scripted.ts";
import { summaryText } from "./summary-text.ts";

const MINUTES_AGO = "2026-11-20T01:58:30Z";
const WEEKS_AGO = "2026-11-08T22:00:00Z";

/** Every third item was edited: its title, and what it says by the field. */
function edited(items: readonly Item[], updatedAt: string, more: object = {}): Item[] {
  return items.map((each, i) =>
    i % 3 === 0 ? { ...each, title: `New ${each.title}`, updated_at: updatedAt, ...more } : each,
  );
}

/** A service that answers each request from the state that `stateOf` says. */
async function answering(
  t: TestContext,
  stateOf: (question: Question) => readonly Item[],
): Promise<Scripted> {
  const scripted = await Scripted.start(t, []);
  scripted.arrange = (_items, question) => stateOf(question);
  scripted.script = (question) => {
    if (question.kind !== "item") return undefined;
    const item = stateOf(question).find(({ id }) => id === question.id);
    return item === undefined ? { status: 404, body: {} } : { body: { response: item } };
  };
  return scripted;
}

async function exported(
  t: TestContext,
  scripted: Scripted,
  { clock = new HurriedClock(), pipelineUrl = SMALL }: { clock?: HurriedClock; pipelineUrl?: string } = {},
) {
  const out = await temporaryFolder(t);
  const summary = await exportFrom({ url: scripted.url, out, clock, pipelineUrl });
  const titles = await rowsOf(summary.directory, "SELECT count(*) FROM content WHERE title LIKE 'New %'");
  return { ...summary, clock, newTitles: Number(titles[0]?.[0]), text: summaryText(summary) };
}

suite("one mode lags behind the other", () => {
  const old = itemsOf(60);
  const now = edited(old, MINUTES_AGO);

  for (const lagging of few(["dynamic", "full"] as const, 1)) {
    test(`E4: ${lagging} for longer than the run waits: unsettled, with the items`, async (t) => {
      const behind = (mode: Question["mode"]) => (mode === "dynamic") === (lagging === "dynamic");
      const scripted = await answering(t, ({ mode }) => (behind(mode) ? old : now));
      const {
        verdict,
        reasons,
        clock,
        found: { modesDiffer },
      } = await exported(t, scripted);
      assert.equal(verdict, "unsettled");
      assert.match(
        reasons[0] ?? "",
        /^dynamic and full answers give different updated_at for 20 items, as if some came from an older .* \(c-/,
      );
      assert.equal(modesDiffer, false);
      assert.ok(clock.elapsedMs() >= 300_000, "waited for the replica");
    });
  }

  test("E4: dynamic for a minute: the run waits, reads the items again and is complete", async (t) => {
    const clock = new HurriedClock();
    const scripted = await answering(t, ({ mode }) =>
      mode === "dynamic" && clock.elapsedMs() < 60_000 ? old : now,
    );
    const { verdict, newTitles } = await exported(t, scripted, { clock });
    assert.deepEqual([verdict, newTitles], ["complete", 20]);
    assert.ok(clock.elapsedMs() < 90_000, "does not wait for longer than it has to");
  });

  test("E4: for weeks: contradicting documents make the run unsettled, and its history ends nothing unseen", async (t) => {
    const late = edited(old, WEEKS_AGO);
    const field = { id: "f-1", name: "color", field_type: "text", value: "red" };
    const [first, ...others] = old;
    const before = [{ ...(first as Item), custom_fields_details: [field] }, ...others];
    let night = 1;
    const scripted = await answering(t, ({ mode }) =>
      night === 1 ? before : mode === "dynamic" ? old : late,
    );
    const out = await temporaryFolder(t);
    const runOfNight = () =>
      exportFrom({ url: scripted.url, out, clock: new HurriedClock(), pipelineUrl: HISTORY });
    assert.equal((await runOfNight()).verdict, "complete");
    night = 2;
    const summary = await runOfNight();
    const { verdict, directory, reasons } = summary;
    assert.equal(verdict, "unsettled");
    assert.equal(reasons.length, 1);
    const contradiction =
      /content\.title of c-\d+ and 19 more: dynamic and full answers of different updated_at c/;
    assert.match(reasons[0] ?? "", contradiction);
    assert.match(summaryText(summary), new RegExp(`Look at +${contradiction.source}`));
    const verdicts = await rowsOf(directory, "SELECT verdict FROM run_history ORDER BY sequence");
    assert.deepEqual(verdicts, [["complete"], ["unsettled"]]);
    const fields = "SELECT custom_field_id, valid_to_run FROM custom_field_history";
    assert.deepEqual(await rowsOf(directory, fields), [["f-1", null]]);
  });
});

suite("the modes mean different times", () => {
  const times = (mode: Question["mode"], item: Item, i: number): Item => ({
    ...item,
    updated_at:
      mode === "dynamic" ? `2026-11-02T10:00:${String(i % 60).padStart(2, "0")}.123Z` : item.updated_at,
  });

  test("and nothing else: each is certified by itself, and the summary says so", async (t) => {
    const scripted = await answering(t, ({ mode }) => itemsOf(60).map((item, i) => times(mode, item, i)));
    const {
      verdict,
      text,
      found: { passes, modesDiffer },
    } = await exported(t, scripted);
    assert.deepEqual([verdict, modesDiffer], ["complete", true]);
    assert.deepEqual(
      passes.map(({ mode }) => mode),
      ["dynamic", "full", "dynamic", "basic"],
    );
    const columns = scripted.asked("list", "dynamic").map((asked) => asked.columns.length > 0);
    assert.deepEqual(columns, [...Array(12).fill(true), ...Array(12).fill(false)]);
    assert.doesNotMatch(text, /contradict/, "the times themselves are no contradiction");
  });

  long("and one of them lags, too: what contradicts itself makes the run unsettled", async (t) => {
    const old = itemsOf(60);
    const now = edited(old, MINUTES_AGO, { tags: ["new"] });
    // Of most items the times are old, so that the modes are known to mean different ones.
    const scripted = await answering(t, ({ mode }) =>
      (mode === "dynamic" ? old : now).map((item, i) => times(mode, item, i)),
    );
    const { verdict, reasons } = await exported(t, scripted);
    assert.equal(verdict, "unsettled");
    assert.match(reasons.join("\n"), /content\.title of c-\d+ and 19 more: .* contradict each other/);
    assert.match(reasons.join("\n"), /content_tags of c-\d+ and 19 more: .* contradict each other/);
  });

  long("and one of them writes a field otherwise: that is told, and no other state", async (t) => {
    const scripted = await answering(t, ({ mode }) =>
      itemsOf(12).map((item, i) => {
        const title = mode === "dynamic" ? item.title : `${item.title} `;
        return { ...times(mode, item, i), title };
      }),
    );
    const { verdict, text } = await exported(t, scripted);
    assert.equal(verdict, "complete");
    assert.match(text, /Fields .*1 in which answers for one item contradict each other: content\.title\n/);
  });
});
