import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parsePage } from "./dom.ts";
import { pageItems } from "./page-data.ts";
import { HOSTILE, twoNights } from "./warehouse.ts";

const nights = await twoNights();
const page = await readFile(join(nights.out, "current", "report.html"), "utf8");
const root = parsePage(page);

/** Elements and attributes that the page is made of; a title can bring none. */
const ELEMENTS =
  "a bdi body button caption code dd details dialog div dl dt em figcaption figure footer form h1 h2 h3 h4 head header html " +
  "input label li main meta nav noscript p path pre rect script section small span strong style summary svg table tbody td " +
  "th thead time title tr ul";
const ATTRIBUTES =
  "aria-hidden aria-label aria-labelledby autocomplete charset class content d data-total datetime for height hidden href http-equiv " +
  "id lang name open placeholder preserveaspectratio preserveAspectRatio role scope spellcheck tabindex type viewBox width x y";

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
