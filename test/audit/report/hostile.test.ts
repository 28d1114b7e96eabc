import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parseHTML } from "linkedom";
import { reportCommand } from "../../../src/cli/commands/report.ts";
import { capture } from "../../cli/capture.ts";
import { HOSTILE, twoNights } from "./warehouse.ts";

const nights = await twoNights();
const page = await readFile(join(nights.out, "current", "report.html"), "utf8");
const { document } = parseHTML(page);

/** Elements and attributes that the page is made of; a title can bring none. */
const ELEMENTS =
  "a abbr bdi body button caption code datalist dd details dialog div dl dt em figcaption figure footer form g h1 h2 h3 " +
  "head header html input label legend li line main meta nav noscript option p path pre rect script section select span " +
  "strong style summary svg table tbody td text th thead time title tr tspan ul";
const ATTRIBUTES =
  "aria-hidden aria-label aria-labelledby autocomplete charset class content data-sort datetime dx dy fill font-family font-size " +
  "font-variant for height hidden href http-equiv id lang list name pointer-events role rx scope spellcheck stroke " +
  "stroke-opacity stroke-width tabindex text-anchor title transform type value viewBox width x x1 x2 y y1 y2 d";

test("hostile texts make no element, no attribute and no address", () => {
  const elements = new Set(ELEMENTS.split(" "));
  const attributes = new Set(ATTRIBUTES.split(" "));
  for (const element of document.querySelectorAll("*")) {
    assert.ok(elements.has(element.localName), element.localName);
    for (const { name, value } of element.attributes) {
      assert.ok(attributes.has(name), `${element.localName} ${name}`);
      if (name === "href") assert.match(value, /^#[a-z]+$/);
    }
  }
  assert.equal(document.querySelectorAll("script").length, 2);
  assert.equal(document.querySelectorAll("style").length, 1);
});

test("the second night is compared with the first, and drawn beside it", async () => {
  assert.match(document.querySelector("#drift .lead")?.textContent ?? "", /Compared with run 1\.$/);
  const rows = [...document.querySelectorAll("#runs tbody tr")].map((row) =>
    [...row.querySelectorAll("th, td")].map(({ textContent }) => textContent),
  );
  const figures = await Promise.all(
    nights.runs.toReversed().map(async (run) => {
      const text = await readFile(join(nights.out, "runs", run, "manifest.json"), "utf8");
      const { sequence, items, mappedValues } = JSON.parse(text);
      return [sequence, items.loaded, items.rejected, mappedValues.unmapped].map(String);
    }),
  );
  assert.deepEqual(
    rows.map(([run, , , ...counts]) => [run, ...counts]),
    figures,
  );
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
  const heads = [...document.querySelectorAll("tbody th")].map(({ textContent }) => textContent);
  assert.ok(heads.includes(HOSTILE.field));
  assert.ok([...document.querySelectorAll("td")].some((cell) => cell.textContent === HOSTILE.destination));
  assert.ok(
    [...document.querySelectorAll("svg text")].some((text) => text.textContent === HOSTILE.destination),
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
  const policy =
    document.querySelector("meta[http-equiv=Content-Security-Policy]")?.getAttribute("content") ?? "";
  const hash = (selector: string) =>
    `'sha256-${createHash("sha256")
      .update(document.querySelector(selector)?.textContent ?? "")
      .digest("base64")}'`;
  assert.deepEqual(policy.split("; "), [
    "default-src 'none'",
    `script-src ${hash("script:not([type])")}`,
    `style-src ${hash("style")}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
});

test("the page has one heading of the first level, landmarks, and names for all that can be worked with", () => {
  assert.equal(document.querySelectorAll("h1").length, 1);
  for (const landmark of ["header", "nav", "main", "footer"])
    assert.ok(document.querySelector(landmark), landmark);
  for (const field of document.querySelectorAll("input, select")) {
    assert.ok(document.querySelector(`label[for=${field.id}]`), field.id);
  }
  for (const svg of document.querySelectorAll("svg")) {
    assert.equal(svg.getAttribute("role"), "img");
    assert.match(svg.getAttribute("aria-label") ?? "", /The table below has the figures\.$/);
  }
  for (const table of document.querySelectorAll("table")) {
    assert.ok(table.querySelector("caption")?.textContent, "a caption");
    assert.ok(table.querySelector("thead th[scope=col]"), "heads");
  }
});
