import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { reportCommand } from "../../../src/cli/commands/report.ts";
import { capture } from "../../cli/capture.ts";
import { parsePage, tableRecords } from "./dom.ts";
import { HOSTILE, twoNights } from "./warehouse.ts";

const nights = await twoNights();
const page = await readFile(join(nights.out, "current", "report.html"), "utf8");
const root = parsePage(page);

/** Elements and attributes that the page is made of; a title can bring none. */
const ELEMENTS =
  "a bdi body button caption code datalist dd dialog div dl dt em footer form h1 h2 h3 head header input label li main meta " +
  "nav noscript option p pre rect script section select span strong style svg table tbody td th thead time title tr ul";
const ATTRIBUTES =
  "aria-hidden aria-label aria-labelledby autocomplete charset class content data-limit data-value datetime for height " +
  "hidden href http-equiv id lang list name role rx scope spellcheck tabindex title type value viewBox width";

test("hostile texts make no element, no attribute and no address", () => {
  const elements = new Set(ELEMENTS.split(" "));
  const attributes = new Set(ATTRIBUTES.split(" "));
  for (const element of root.descendants()) {
    assert.ok(elements.has(element.localName), element.localName);
    for (const [name, value] of element.attributes) {
      assert.ok(attributes.has(name), `${element.localName} ${name}`);
      if (name === "href") assert.match(value, /^#[a-z]+$/);
    }
  }
  assert.equal(root.all("script").length, 2);
  assert.equal(root.all("style").length, 1);
});

test("the second night is compared with the first, and stands beside it", async () => {
  assert.match(root.first("#drift .lead")?.textContent ?? "", /Compared with run 1\.$/);
  const rows = tableRecords(root, "Runs").map(({ run, items, rejected, unmapped }) => [
    run,
    items,
    rejected,
    unmapped,
  ]);
  const figures = await Promise.all(
    nights.runs.toReversed().map(async (run) => {
      const text = await readFile(join(nights.out, "runs", run, "manifest.json"), "utf8");
      const { items, mappedValues } = JSON.parse(text);
      return [run, items.loaded, items.rejected, mappedValues.unmapped].map(String);
    }),
  );
  assert.deepEqual(rows, figures);
});

test("a page that is made again is the same, byte by byte", async () => {
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

test("names with markup are told as they are", () => {
  const matrix = root.first(".matrix");
  const texts = (selector: string) => matrix?.all(selector).map(({ textContent }) => textContent) ?? [];
  assert.ok(texts("tbody th").includes(HOSTILE.field));
  assert.ok(texts("thead th").includes(HOSTILE.destination));
  const values = tableRecords(root, "Values without an external value");
  assert.ok(
    values.some(({ field, destination }) => field === HOSTILE.field && destination === HOSTILE.destination),
  );
});

test("the data of the items cannot end their element, and are what the service sent", () => {
  const [, island = ""] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page) ?? [];
  assert.ok(!island.includes("<"));
  const { items, texts } = JSON.parse(island);
  for (const [name, id] of nights.hostile) {
    const item = items.find(([each]: [string]) => each === id);
    assert.equal(item[1], HOSTILE[name as keyof typeof HOSTILE]);
  }
  assert.ok(texts.includes(HOSTILE.external) && texts.includes(HOSTILE.externalName));
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
  for (const svg of root.all("svg"))
    assert.equal(svg.get("aria-hidden"), "true", "its figure stands beside it");
  for (const table of root.all("table")) {
    assert.ok(table.first("caption")?.textContent, "a caption");
    assert.ok(table.first("thead th[scope=col]"), "heads");
  }
  const ids = [...root.descendants()].flatMap((element) => element.get("id") ?? []);
  assert.equal(new Set(ids).size, ids.length, "each address once");
});
