import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { OpenedRun } from "../../../src/audit/open-run.ts";
import type { ReportLimits } from "../../../src/audit/questions/items.ts";
import { reportOf } from "../../../src/show/page/report.ts";
import { PUBLISHED_CATALOG } from "../../../src/storage/database.ts";
import { all, execute } from "../../../src/storage/duckdb.ts";
import { either, few, long } from "../../long.ts";
import { opened, sampleWarehouse } from "../sample.ts";
import { HOSTILE, type TwoNights, twoNights } from "./warehouse.ts";

/** Where Debian's package has it. */
const CHROMIUM = "/usr/bin/chromium";
const skip = existsSync(CHROMIUM)
  ? false
  : `needs a browser, and there is none at ${CHROMIUM} (apt-get install chromium)`;

const sample = skip === false ? await sampleWarehouse() : "";
/** The short form looks at the sample alone, whose titles are harmless. */
const opens = either<() => Promise<TwoNights>>(async () => ({ out: sample, hostile: new Map() }), twoNights);
const nights = skip === false ? await opens() : undefined;
const browser: Browser | undefined =
  skip === false ? await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] }) : undefined;
after(() => browser?.close());

interface Opened {
  readonly page: Page;
  /** What no page may do: ask for anything, write to the console, break its policy. */
  readonly offences: string[];
}

/** The report of the second night, from the disk. Ends with the test, which fails for an offence. */
async function open(t: TestContext, options: BrowserContextOptions = {}, hash = ""): Promise<Opened> {
  assert.ok(browser !== undefined && nights !== undefined);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const offences: string[] = [];
  const address = pathToFileURL(join(nights.out, "current", "report.html")).href;
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== address) offences.push(`request ${request.url()}`);
  });
  page.on("console", (message) => offences.push(`console ${message.text()}`));
  page.on("pageerror", (error) => offences.push(`error ${error.message}`));
  page.on("dialog", (dialog) => {
    offences.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript({
    content:
      'addEventListener("securitypolicyviolation", (event) => console.error("policy", event.violatedDirective))',
  });
  t.after(async () => {
    const harmed = await page.evaluate("globalThis.harmed");
    await context.close();
    assert.deepEqual(offences, []);
    assert.equal(harmed, undefined);
  });
  await page.goto(`${address}${hash}`);
  return { page, offences };
}

/** The report of the sample with other queries in place of tables, where `{}` is the table itself. */
async function openEdited(
  t: TestContext,
  run: OpenedRun,
  edits: Readonly<Record<string, string>>,
  limits?: ReportLimits,
): Promise<Opened & { readonly bytes: number }> {
  for (const [table, query] of Object.entries(edits))
    await execute(
      run.connection,
      `CREATE OR REPLACE VIEW ${table} AS ${query.replace("{}", `${PUBLISHED_CATALOG}.${table}`)}`,
    );
  const html = await reportOf({ ...run, earlier: { previous: null, before: undefined, listed: [] } }, limits);
  const file = join(sample, "..", "edited.html");
  await writeFile(file, html);
  const opened = await open(t);
  await opened.page.goto(pathToFileURL(file).href);
  opened.offences.length = 0;
  return { ...opened, bytes: Buffer.byteLength(html) };
}

const words = (page: Page) => page.getByRole("searchbox");
const titles = (page: Page) => page.locator("#item-rows a").allTextContents();
const found = (page: Page) => page.locator("#found").textContent();

test("the first screen says whether the run is good, and what needs attention", { skip }, async (t) => {
  const { page } = await open(t);
  const total = either("500", "499");
  assert.match(
    (await page.locator(".verdict").textContent()) ?? "",
    new RegExp(`Complete: ${total} of ${total} items; `),
  );
  const headings = await page.locator("#overview h3").allTextContents();
  assert.deepEqual(
    headings,
    either(
      ["Look at", "Missing values", "Content", "New fields"],
      ["Look at", "Missing values", "Content", "New fields", "Changes"],
    ),
  );
  for (const part of await page.locator("main > section:has(details.answer)").all())
    assert.equal(await part.locator("details[open]").count(), 1, "one section of each heading is open");
  assert.match((await page.locator("header .lead").textContent()) ?? "", / UTC, less than 1 h ago$/);
  const { y = 0, height = 0 } = (await page.locator("#overview").boundingBox()) ?? {};
  assert.ok(y > 0 && y + height <= 800, `${y} ${height}`);
});

test("long names and many destinations fit on the first screen", { skip }, async (t) => {
  await using run = await opened(sample);
  const long = "Newsletter-Versandsystem-der-Unternehmenskommunikation, Süddeutschland und Österreich";
  const edits = {
    instances: `SELECT * REPLACE ('${long}' AS name) FROM {}`,
    destinations: `SELECT * REPLACE (destination_id || n AS destination_id, n || '${long}' AS identification)
      FROM {}, range(9) copies(n) WHERE supports_custom_field_mappings`,
    content_mapped_values:
      "SELECT * REPLACE (destination_id || n AS destination_id) FROM {}, range(9) copies(n)",
    custom_field_mappings: `SELECT * REPLACE (destination_id || n AS destination_id, '${long}' AS external_field_name)
      FROM {}, range(9) copies(n)`,
  };
  const { page } = await openEdited(t, run, edits);
  assert.equal(await page.locator("#overview tbody tr").count(), 5);
  const { y = 0, height = 0 } = (await page.locator("#overview").boundingBox()) ?? {};
  assert.ok(y > 0 && y + height <= 844, `${y} ${height}`);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
});

test("an item is found by its title, ID or a value, and shows its payloads with mapping and entry", {
  skip,
}, async (t) => {
  const { page } = await open(t);
  const total = either("500", "499");
  await page.locator("#found", { hasText: `${total} of ${total} items; the first 50 are shown.` }).waitFor();
  await page.getByRole("button", { name: "Show 50 more" }).click();
  assert.equal((await titles(page)).length, 100);
  await words(page).fill("no item has this");
  assert.equal(await found(page), `0 of ${total} items. The page has all items of the run.`);
  await using run = await opened(nights?.out ?? "");
  const mappedValues = await all(
    run.connection,
    `SELECT content_id, external_field_name, external_value, mapping_id, mapping_value_id
     FROM content_mapped_values WHERE status = 'mapped'
       AND content_id = (SELECT max_by(content_id, external_value) FROM content_mapped_values WHERE status = 'mapped')`,
  );
  const id = String(mappedValues[0]?.content_id);
  await words(page).fill(String(mappedValues[0]?.external_value));
  assert.ok((await titles(page)).length > 0);
  await words(page).fill(id);
  const [title] = await titles(page);
  assert.equal(await found(page), `1 of ${total} items.`);
  await words(page).fill(title?.toUpperCase() ?? "");
  assert.ok((await titles(page)).includes(title ?? ""));
  await words(page).fill(id);
  await page.locator("#item-rows a").click();
  const dialog = page.locator("#item");
  await dialog.waitFor();
  assert.match(page.url(), new RegExp(`#item=${id}$`));
  const payloads = await all(
    run.connection,
    "SELECT payload::VARCHAR AS payload FROM content_external_payloads WHERE content_id = $1",
    [id],
  );
  const texts = (some: readonly unknown[]) =>
    some.map((text) => JSON.stringify(JSON.parse(String(text)))).sort();
  const cards = await dialog.locator(".card pre").allTextContents();
  assert.deepEqual(
    texts(cards.filter((text) => text !== "{}")),
    texts(payloads.map(({ payload }) => payload)),
  );
  const told = await dialog.locator("tbody tr").allTextContents();
  for (const row of mappedValues) {
    const parts = [row.external_field_name, row.external_value, row.mapping_id, row.mapping_value_id].map(
      String,
    );
    assert.ok(
      told.some((line) => parts.every((part) => line.includes(part))),
      parts.join(),
    );
  }
  const [{ receiving, others } = {}] = await all(
    run.connection,
    `SELECT count(DISTINCT destination_id) FILTER (receives)::INTEGER AS receiving,
       count(DISTINCT destination_id) FILTER (NOT receives)::INTEGER AS others
     FROM content_mapped_values WHERE content_id = $1`,
    [id],
  );
  const parts = await dialog.locator("h3, h3 + .note").allTextContents();
  const marks = parts.map((part) => part.startsWith("Receives no values"));
  assert.equal(
    marks.indexOf(true),
    others === 0 ? -1 : Number(receiving) + 1,
    "those that receive come first",
  );
  assert.equal(marks.filter(Boolean).length, others);
  assert.ok((await dialog.textContent())?.includes(`content-warehouse explain ${id} --steps`));
  await page.keyboard.press("Escape");
  assert.ok(await dialog.isHidden());
  assert.equal(await page.evaluate("location.hash"), `#find=${id}`);
});

test("a card says what is missing, and why", { skip }, async (t) => {
  const { page } = await open(t);
  await using run = await opened(nights?.out ?? "");
  const [lacking] = await all(
    run.connection,
    `SELECT content_id, external_field_name, value FROM content_mapped_values SEMI JOIN (FROM destinations WHERE receives)
     USING (destination_id) WHERE status = 'unmapped' AND external_field_name IS NOT NULL ORDER BY ALL LIMIT 1`,
  );
  await page.evaluate(`location.hash = "item=${lacking?.content_id}"`);
  const missing = page.locator("#item .card li", { hasText: String(lacking?.external_field_name) });
  assert.ok(
    (await missing.allTextContents()).includes(
      `${lacking?.external_field_name} missing: no entry for ${JSON.stringify(lacking?.value)}`,
    ),
  );
});

test("whole titles come before those that begin with the words, and these before the others; / begins a search", {
  skip,
}, async (t) => {
  await using run = await opened(sample);
  const ids = "(SELECT content_id FROM content ORDER BY content_id LIMIT 3)";
  const content = `SELECT * REPLACE (CASE row_number() OVER (ORDER BY content_id)
      WHEN 1 THEN 'The zebra' WHEN 2 THEN 'Zebra crossing' WHEN 3 THEN 'Zebra' ELSE title END AS title) FROM {}`;
  assert.equal((await all(run.connection, ids)).length, 3);
  const limits = { items: 500, values: 3000, base64: 1e6 };
  const { page } = await openEdited(t, run, { content }, limits);
  await page.locator("#found", { hasText: "500 of 500" }).waitFor();
  await page.keyboard.type("/zebra");
  assert.equal(await words(page).inputValue(), "zebra");
  assert.deepEqual(await titles(page), ["Zebra", "Zebra crossing", "The zebra"]);
  await words(page).fill("no item has this");
  assert.match(
    (await found(page)) ?? "",
    /^0 of 500 items\. The page has all items of the run, and the values of \d+\.$/,
  );
});

test("a search that finds nothing in a part of the items says that it is a part", { skip }, async (t) => {
  await using run = await opened(sample);
  const { page } = await openEdited(t, run, {}, { items: 20, values: 3000, base64: 1e6 });
  await page.locator("#found", { hasText: "20 of 20" }).waitFor();
  await words(page).fill("no item has this");
  assert.equal(
    await found(page),
    "0 of 20 items. The page has 20 of 500 items; content-warehouse explain ITEM finds the others.",
  );
});

/** Copies of the rows of a table, each with items of its own. */
const copied = (copies: number, columns = "") =>
  `SELECT * REPLACE (content_id || '-' || n AS content_id${columns}) FROM {}, range(${copies}) copies(n)`;

test("all of 50,000 items are found, in a page of less than 8 MB", { skip }, async (t) => {
  await using run = await opened(sample);
  const title = ", title || ' ' || substr(md5(content_id || n), 1, 12) AS title, slug || '-' || n AS slug";
  const { page, bytes } = await openEdited(t, run, { content: copied(100, title) });
  assert.ok(bytes < 8e6, String(bytes));
  await page.locator("#found", { hasText: "50,000 of 50,000 items" }).waitFor();
  const [last] = await all(
    run.connection,
    "SELECT content_id, slug, title FROM content ORDER BY content_id DESC LIMIT 1",
  );
  for (const name of [last?.content_id, last?.slug, last?.title]) {
    await words(page).fill(String(name));
    assert.equal((await titles(page))[0], last?.title);
  }
});

test("3,000 items are printed on ten pages at most, and no column is cut", { skip }, async (t) => {
  await using run = await opened(sample);
  const edits = Object.fromEntries(
    ["content", "content_mapped_values", "content_custom_field_values"].map((table) => [table, copied(6)]),
  );
  const { page } = await openEdited(t, run, edits);
  await page.locator("#found", { hasText: "3,000 of 3,000 items" }).waitFor();
  const pages = (await page.pdf({ format: "A4" })).toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
  assert.ok(pages >= 3 && pages <= 10, String(pages));
  await page.setViewportSize({ width: 718, height: 1000 });
  await page.emulateMedia({ media: "print" });
  const tables = await page
    .locator("table")
    .evaluateAll((all) =>
      all.filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect().right),
    );
  assert.ok(tables.length > 5, "definitions are unfolded");
  assert.ok(Math.max(...tables) <= 718, String(tables));
});

test("on a narrow screen a table fits, or its edge shows that it scrolls", { skip }, async (t) => {
  const { page } = await open(t, { viewport: { width: 390, height: 844 } });
  await page.locator("#item-rows a").first().waitFor();
  await page.locator("details").evaluateAll((all) => {
    for (const each of all) each.setAttribute("open", "");
  });
  const edges = await page.evaluate<readonly { readonly fits: boolean; readonly shows: string }[]>(`
    [...document.querySelectorAll("main table")].map(({ parentElement: box }) => {
      const { overflowX, backgroundAttachment } = getComputedStyle(box);
      return { fits: box.scrollWidth <= box.clientWidth, shows: overflowX + " " + backgroundAttachment };
    })`);
  assert.ok(edges.some(({ fits }) => fits) && edges.some(({ fits }) => !fits));
  for (const { fits, shows } of edges)
    assert.ok(fits || shows === "auto local, local, scroll, scroll", shows);
});

test("the address has the words of the search, and an address with words finds what they find", {
  skip,
}, async (t) => {
  const { page } = await open(t, {}, "#find=no+item+has+100%25+of+this");
  assert.match((await found(page)) ?? "", /^0 of /);
  assert.equal(await words(page).inputValue(), "no item has 100% of this");
  await words(page).fill("Page & more");
  assert.equal(await page.evaluate("location.hash"), "#find=Page+%26+more");
  await words(page).fill("");
  assert.equal(await page.evaluate("location.hash"), "#items");
  await page.evaluate("location.hash = 'find=%E0%A4%A'");
  await page.locator("#found", { hasText: /^0 of / }).waitFor();
  await words(page).fill("nobody wrote this");
  const top = (await page.locator("#items").boundingBox())?.y ?? -1;
  assert.ok(top >= 0 && top < 200, "what is found is in sight, below the search");
  assert.ok(await words(page).isVisible());
});

test("an address opens its section, unfolds it, and closes an item that is open", { skip }, async (t) => {
  const { page } = await open(t, {}, "#run-checks");
  assert.ok(await page.locator("#run-checks table").isVisible());
  await page.evaluate("location.hash = document.querySelector('#item-rows a').hash");
  await page.locator("#item").waitFor();
  await page.evaluate("location.hash = 'coverage'");
  await page.locator("#item").waitFor({ state: "hidden" });
  assert.match(page.url(), /#coverage$/);
  const top = (await page.locator("#coverage").boundingBox())?.y ?? -1;
  assert.ok(top >= -1 && top < 200, String(top));
});

long("hostile titles are texts, with what cannot be seen made visible", { skip }, async (t) => {
  const { page } = await open(t);
  const shown = {
    ...HOSTILE,
    bidi: "Nordics[U+202E]gnp.exe[U+202C] [U+2066]isolated[U+2069]",
    hidden: "no[U+200B]break[U+00AD]here[U+FEFF]",
  };
  for (const [name, id] of nights?.hostile ?? []) {
    await words(page).fill(id);
    const [title] = await titles(page);
    assert.equal(title, shown[name as keyof typeof shown]);
    await page.locator("#item-rows a").click();
    await page.locator("#item").waitFor();
    assert.equal(await page.locator("#item-title").textContent(), title);
    await page.keyboard.press("Escape");
  }
  await words(page).fill(HOSTILE.external);
  assert.equal(await page.locator("main a:not([href^='#'])").count(), 0);
  assert.equal(await page.locator("main img, main iframe, main b").count(), 0);
});

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Findings of the accessibility check. */
async function findings(page: Page, within: "document" | "'#item'"): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate<readonly Finding[]>(
    `axe.run(${within}, { resultTypes: ["violations"] }).then(({ violations }) => violations)`,
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
}

const SCREENS = [
  { width: 1280, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
  { width: 1280, colorScheme: "dark" },
  { width: 390, colorScheme: "light" },
] as const;

for (const { width, colorScheme } of few(SCREENS, 2)) {
  test(`the page scrolls down alone, and an accessibility check finds nothing: ${width} pixels wide, ${colorScheme}`, {
    skip,
  }, async (t) => {
    const { page } = await open(t, { colorScheme, viewport: { width, height: 844 } });
    await page.locator("#item-rows a").first().waitFor();
    assert.deepEqual(await findings(page, "document"), []);
    await page.locator("details").evaluateAll((all) => {
      for (const each of all) each.setAttribute("open", "");
    });
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width);
    await page.locator("#item-rows a").first().click();
    await page.locator("#item").waitFor();
    assert.deepEqual(await findings(page, "'#item'"), []);
    const sizes = await page.locator("#item").evaluate((item) => [item.scrollWidth, item.clientWidth]);
    assert.ok((sizes[0] ?? 0) <= (sizes[1] ?? 0), "an item scrolls down alone");
  });
}

test("without its script the page still has all but the search", { skip }, async (t) => {
  assert.ok(browser !== undefined && nights !== undefined);
  const context = await browser.newContext({ javaScriptEnabled: false });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(nights.out, "current", "report.html")).href);
  assert.ok(await page.locator("noscript p").isVisible());
  assert.ok(await page.locator("#search").isHidden());
  for (const folded of await page.locator("details.answer > summary").all())
    if (!(await folded.evaluate((summary) => summary.parentElement.open))) await folded.click();
  const tables = await page.locator(".answer table").all();
  assert.ok(tables.length > 5);
  for (const table of tables) assert.ok(await table.isVisible());
});
