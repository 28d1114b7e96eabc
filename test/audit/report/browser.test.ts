import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { all } from "../../../src/storage/duckdb.ts";
import { program } from "../../cli/running.ts";
import { either, few, long } from "../../long.ts";
import { opened, sampleWarehouse } from "../sample.ts";
import { HOSTILE, type TwoNights, twoNights } from "./warehouse.ts";

/** Where Debian's package has it. */
const CHROMIUM = "/usr/bin/chromium";
const skip = existsSync(CHROMIUM)
  ? false
  : `needs a browser, and there is none at ${CHROMIUM} (apt-get install chromium)`;

/** The short form looks at the sample alone, whose titles are harmless. */
const opens = either<() => Promise<Omit<TwoNights, "summary">>>(
  async () => ({ out: await sampleWarehouse(), runs: [], hostile: new Map() }),
  twoNights,
);
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

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const titles = (page: Page) => page.locator("#item-rows button.title").allTextContents();
const found = (page: Page) => page.locator("#found").textContent();

test("the first screen says whether the run is good, and what needs attention", { skip }, async (t) => {
  const { page } = await open(t);
  assert.match((await page.locator(".verdict").textContent()) ?? "", /Complete\s*Two passes/);
  const lowest = await page.locator(".attention li").first().boundingBox();
  assert.ok(lowest !== null && lowest.y + lowest.height < 900);
  assert.equal(await page.locator(".figures strong").first().textContent(), either("500", "499"));
});

long(
  "the coverage has a coloured cell with its figure for each mapped field and destination",
  { skip },
  async (t) => {
    const { page } = await open(t);
    const table = page.getByRole("table", {
      name: "Share of values that are mapped, by field and destination",
    });
    await table.scrollIntoViewIfNeeded();
    assert.ok(await table.isVisible());
    const figures = await table.locator("td").allTextContents();
    assert.ok(figures.filter((text) => /^\d+(\.\d)?%$/.test(text)).length > 15);
    assert.ok((await table.locator("thead th").allTextContents()).includes(HOSTILE.destination));
    const fills = await table
      .locator("td")
      .evaluateAll((cells) =>
        cells.map((cell) => cell.ownerDocument.defaultView.getComputedStyle(cell).backgroundColor),
      );
    assert.ok(new Set(fills).size >= 5, "the steps have colours");
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 1047, height: 718 });
    assert.ok(await table.locator(".flaws").first().isVisible());
    assert.ok(await page.getByText("some ambiguous").isVisible(), "the legend is printed");
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 1047);
  },
);

long("the changes of the second night are counted by cause, and told in words", { skip }, async (t) => {
  const { page } = await open(t);
  const shown = await page
    .getByRole("table", { name: "Changes by cause", exact: true })
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => [row.cells[0]?.textContent, row.cells[2]?.textContent]));
  const out = nights?.out ?? "";
  const { stdout } = await program(["diff", "--warehouse", out, "--format", "json"]);
  const { causes } = JSON.parse(stdout);
  assert.deepEqual(
    shown,
    causes.map(({ causes: names, values }: { causes: string; values: number }) => [
      names.replaceAll(" ", ", "),
      values.toLocaleString("en-US"),
    ]),
  );
  assert.ok(shown.some(([cause]) => cause === "mapping_changed"));
  assert.ok(shown.some(([cause]) => cause === "item_removed"));
  const words = await page.locator("#changes-lines").textContent();
  assert.ok(words?.includes(HOSTILE.external));
  const alike = page.locator("#changes-alike");
  assert.ok(await alike.locator("table").isHidden(), "what sends the same is folded");
  await alike.locator("summary").click();
  assert.ok(await alike.locator("table").isVisible());
});

long(
  "items are filtered by what changed, a change opens its item, and that says since when",
  { skip },
  async (t) => {
    const { page } = await open(t);
    const out = nights?.out ?? "";
    const { stdout } = await program(["diff", "--items", "--warehouse", out, "--format", "json"]);
    const { items } = JSON.parse(stdout) as { items: Record<string, string>[] };
    await using run = await opened(out);
    const rows = await all(run.connection, "SELECT content_id FROM content");
    const known = new Set(rows.map(({ content_id }) => String(content_id)));
    const idsOf = (some: typeof items) =>
      new Set(some.map(({ content_id }) => content_id ?? "").filter((id) => known.has(id)));
    const shown = async () => Number(/^[\d,]+/.exec((await found(page)) ?? "")?.[0].replace(",", ""));
    const changed = field(page, "Changed");
    await changed.selectOption("changed");
    assert.equal(await shown(), idsOf(items).size);
    const removed = new Set(items.map(({ content_id }) => content_id)).size - idsOf(items).size;
    assert.equal(removed, 1);
    assert.match((await found(page)) ?? "", / 1 removed item changed as well, and is not in this list\.$/);
    await changed.selectOption("payload");
    assert.equal(await shown(), idsOf(items.filter(({ change }) => change !== "alike")).size);
    await changed.selectOption("unchanged");
    assert.equal(await shown(), known.size - idsOf(items).size);
    assert.doesNotMatch((await found(page)) ?? "", /removed/);

    const external = items.find(
      ({ content_id, external_value_after: after, change }) =>
        change === "changed" && after === HOSTILE.external && known.has(content_id ?? ""),
    );
    await page
      .locator("#changes-items")
      .getByRole("searchbox")
      .fill(external?.content_id ?? "");
    await page.locator("#changes-items tbody a").first().click();
    const dialog = page.locator("#item");
    // The page hears of an address a moment after it changed.
    await dialog.waitFor();
    const since = await dialog.locator(".since").allTextContents();
    assert.ok(
      since.some((text) => /^Since run 2 of \d{4}-\d\d-\d\d \([a-z_, ]+\)$/.test(text)),
      since.join("\n"),
    );
  },
);

long(
  "items are found by title, type, destination, field, value and status, and by all together",
  {
    skip,
  },
  async (t) => {
    const { page } = await open(t);
    assert.equal(await found(page), "499 items, the first 50 are shown.");
    await field(page, "Title or ID").fill("repair kit");
    assert.deepEqual(await titles(page), ["A repair kit the size of a matchbox"]);
    assert.equal(await found(page), "1 of 499 items.");
    await page.getByRole("button", { name: "Clear" }).click();
    await page.locator("#found", { hasText: "499 items" }).waitFor();

    await using run = await opened(nights?.out ?? "");
    const expected = async (where: string, params: string[] = []) => {
      const sql = `SELECT count(DISTINCT content.content_id)::INT AS number FROM content JOIN content_types USING (content_type_id)
      JOIN content_mapped_values AS mapped USING (content_id) JOIN destinations USING (destination_id)
      JOIN custom_fields USING (custom_field_id) WHERE ${where}`;
      return Number((await all(run.connection, sql, params))[0]?.number);
    };
    const shown = async () => Number(/^[\d,]+/.exec((await found(page)) ?? "")?.[0].replace(",", ""));
    await field(page, "Content type").selectOption("Article");
    await field(page, "Status").selectOption("unmapped");
    const article = "content_types.display_name = 'Article' AND mapped.status = 'unmapped'";
    assert.equal(await shown(), await expected(article));
    await field(page, "Destination").selectOption(HOSTILE.destination);
    assert.equal(await shown(), await expected(`${article} AND identification = $1`, [HOSTILE.destination]));
    await field(page, "Custom field").selectOption("audience");
    const narrow = `${article} AND identification = $1 AND custom_fields.name = 'audience'`;
    const number = await shown();
    assert.equal(number, await expected(narrow, [HOSTILE.destination]));
    assert.ok(number > 0);
    await field(page, "Value").fill("retail part");
    assert.equal(
      await shown(),
      await expected(`${narrow} AND lower(mapped.value) LIKE '%retail part%'`, [HOSTILE.destination]),
    );
    assert.ok((await shown()) > 0);
    await field(page, "Value").fill("there is no such value");
    assert.equal(await found(page), "No item in this page is like that. Clear a filter to see more.");
  },
);

test("an address of an item that the page does not have says so", { skip }, async (t) => {
  const { page } = await open(t, {}, "#item=000000000000000000000000");
  const dialog = page.getByRole("dialog", { name: "Not in this page" });
  assert.match((await dialog.textContent()) ?? "", /000000000000000000000000.*It was removed, or /);
  await page.keyboard.press("Escape");
  assert.ok(await dialog.isHidden());
});

test("items lack values at destinations that receive them, and what lacks at others stands apart", {
  skip,
}, async (t) => {
  const { page } = await open(t);
  await using run = await opened(nights?.out ?? "");
  const [row] = await all(
    run.connection,
    `SELECT count(DISTINCT content_id) FILTER (receives)::INT AS lacking,
         count(DISTINCT content_id) FILTER (NOT receives)::INT AS apart,
         (max_by(content_id, own) FILTER (receives)) AS most, max(own) AS own
       FROM (
         SELECT content_id, identification IS NOT NULL AND supports_custom_field_mappings AS receives,
           count(*) FILTER (receives) OVER (PARTITION BY content_id)::INT AS own
         FROM content_mapped_values JOIN destinations USING (destination_id)
         WHERE status IN ('unmapped', 'unknown_value')
       )`,
  );
  const shown = async () => Number(/^[\d,]+/.exec((await found(page)) ?? "")?.[0].replace(",", ""));
  const cells = page.locator("#item-rows tr td:last-child");
  const lines = await cells.first().locator("li").allTextContents();
  const more = Number(/and (\d+) more/.exec(lines.join(" "))?.[1] ?? 0);
  assert.equal(Math.min(lines.length, 3) + more, row?.own, "the first item lacks most");
  await field(page, "Status").selectOption("without");
  assert.equal(await shown(), row?.lacking);
  const told = (await cells.allTextContents()).join("\n");
  assert.doesNotMatch(told, / for (Print Archive|20ff76a286238f962af5b190)/);
  await field(page, "Status").selectOption("apart");
  assert.equal(await shown(), row?.apart);
  const apart = await cells.allTextContents();
  assert.ok(
    apart.length > 0 &&
      apart.every((text) => /\d+ apart, at destinations that receive no values$/.test(text)),
  );
});

long(
  "an item shows what each destination receives, side by side, and where each value came from",
  {
    skip,
  },
  async (t) => {
    await using run = await opened(nights?.out ?? "");
    const [row] = await all(
      run.connection,
      `SELECT content_id, max(title) AS title FROM content JOIN content_external_payloads USING (content_id)
     WHERE title LIKE '%quiet side%' GROUP BY content_id HAVING count(*) = 2 ORDER BY content_id LIMIT 1`,
    );
    const { page } = await open(t, {}, `#item=${row?.content_id}`);
    const dialog = page.getByRole("dialog", { name: String(row?.title) });
    assert.ok(await dialog.isVisible(), "the address names the item");
    const payloads = await all(
      run.connection,
      `SELECT coalesce(identification, destination_id) AS name, payload FROM content_external_payloads
     JOIN destinations USING (destination_id) WHERE content_id = $1 ORDER BY name`,
      [String(row?.content_id)],
    );
    assert.equal(payloads.length, 2);
    for (const { name, payload } of payloads) {
      const destination = dialog
        .locator(".destination")
        .filter({ has: page.getByRole("heading", { name: String(name) }) });
      assert.deepEqual(
        JSON.parse((await destination.locator("[data-payload]").textContent()) ?? ""),
        JSON.parse(String(payload)),
      );
    }
    const tops = await dialog
      .locator(".destination")
      .evaluateAll((parts) => parts.map((part) => part.offsetTop));
    assert.equal(new Set(tops.slice(0, 2)).size, 1, "side by side");
    const ledger = await all(
      run.connection,
      "SELECT mapping_id, mapping_value_id FROM content_mapped_values WHERE content_id = $1 AND status = 'mapped'",
      [String(row?.content_id)],
    );
    const told = (await dialog.textContent()) ?? "";
    for (const { mapping_id, mapping_value_id } of ledger) {
      assert.ok(told.includes(`mapping ${mapping_id}entry ${mapping_value_id}`), String(mapping_value_id));
    }
    await page.keyboard.press("Escape");
    assert.ok(await dialog.isHidden());
    assert.match(page.url(), /#items$/);
  },
);

test("an item shows, folded, where it was read: the rows of explain --steps", { skip }, async (t) => {
  const out = nights?.out ?? "";
  const { page } = await open(t);
  await page.locator("#item-rows button.title").first().click();
  const dialog = page.locator("#item");
  const id = /#item=(.+)$/.exec(page.url())?.[1] ?? "";
  const rule = dialog.getByText("Rule by rule, with the request that says so: ");
  const command = (await rule.locator("code").textContent()) ?? "";
  assert.equal(command, `content-warehouse explain ${id} --steps`);
  const told = [...command.split(" ").slice(1), "--warehouse", out, "--format", "json"];
  const { stdout } = await program(told);
  const { evidence } = JSON.parse(stdout) as { evidence: Record<string, string | number | null>[] };
  const table = dialog.getByRole("table", { name: "Where this was read" });
  assert.equal(await table.count(), 0, "it is folded");
  await dialog.getByText("Where this was read", { exact: true }).click();
  await table.locator("tbody tr").first().waitFor();
  const heads = await table.locator("thead th").allTextContents();
  const rows = await table
    .locator("tbody tr")
    .evaluateAll((lines) => lines.map((line) => [...line.cells].map((cell) => cell.textContent)));
  const digest = (sha256: unknown) => `${String(sha256).slice(0, 24)}…`;
  const expected = evidence.map((row) => ({ ...row, "SHA-256": digest(row.sha256) }) as typeof row);
  assert.deepEqual(
    rows,
    expected.map((row) => heads.map((head) => String(row[head] ?? ""))),
  );
  assert.ok(heads.includes("file") && heads.includes("position"));
  assert.ok(rows.length > 3);
});

long("hostile titles are texts, with what cannot be seen made visible", { skip }, async (t) => {
  const { page } = await open(t);
  const shown = {
    ...HOSTILE,
    bidi: "Nordics[U+202E]gnp.exe[U+202C] [U+2066]isolated[U+2069]",
    hidden: "no[U+200B]break[U+00AD]here[U+FEFF]",
  };
  for (const [name, id] of nights?.hostile ?? []) {
    await field(page, "Title or ID").fill(id);
    const [title] = await titles(page);
    assert.equal(title, shown[name as keyof typeof shown]);
    await page.locator("#item-rows button.title").click();
    assert.equal(await page.locator("#item-title").textContent(), title);
    await page.keyboard.press("Escape");
  }
  await field(page, "Value").fill(HOSTILE.external);
  assert.equal(await page.locator("main a:not([href^='#'])").count(), 0);
  assert.equal(await page.locator("main img, main iframe, main b").count(), 0);
});

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Findings of the accessibility check. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate<readonly Finding[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
}

/** All rows of all tables. */
async function unfold(page: Page): Promise<void> {
  const more = page.getByRole("button", { name: /^Show all/ });
  while ((await more.count()) > 0) await more.first().click();
}

/** What is beyond the edge of the screen, cut off, or scrolls within the page. */
function cutOff(page: Page): Promise<string[]> {
  return page.locator("body :not(.visually-hidden)").evaluateAll((parts) =>
    parts
      .filter((part) => {
        const { overflowX, overflowY } = part.ownerDocument.defaultView.getComputedStyle(part);
        const { left, right, width } = part.getBoundingClientRect();
        if (width === 0 || part.matches("dialog, option, .skip")) return false;
        const isOutside = left < -0.5 || right > part.ownerDocument.documentElement.clientWidth + 0.5;
        const isOver = part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1;
        const isClipped = overflowX !== "visible" || overflowY !== "visible";
        return (
          isOutside ||
          (isClipped && (isOver || overflowX !== "hidden") && !part.matches("input, svg, select"))
        );
      })
      .map((part) => part.outerHTML.slice(0, 200)),
  );
}

const SCREENS = [
  { width: 1280, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
  { width: 390, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
] as const;

for (const { width, colorScheme } of few(SCREENS, 2)) {
  test(`nothing is cut off, and an accessibility check finds nothing: ${width} pixels wide, ${colorScheme}`, {
    skip,
  }, async (t) => {
    const { page } = await open(t, { colorScheme, viewport: { width, height: 844 } });
    if (either(false, width === 390)) await unfold(page);
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(await cutOff(page), []);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width);
    await page.locator("#item-rows button.title").first().click();
    for (const summary of await page.locator("dialog summary").all()) await summary.click();
    if (either(false, true)) assert.deepEqual(await findings(page), []);
    const sizes = await page.locator("#item").evaluate((item) => [item.scrollWidth, item.clientWidth]);
    assert.ok((sizes[0] ?? 0) <= (sizes[1] ?? 0), "an item scrolls down alone");
  });
}

test("an address opens its section, unfolds it, and closes an item that is open", { skip }, async (t) => {
  const { page } = await open(t, {}, "#drift-policy");
  const policy = page.locator("#drift-policy table");
  assert.ok(await policy.isVisible());
  const top = async (id: string) => (await page.locator(id).boundingBox())?.y ?? -1;
  assert.ok((await top("#drift-policy")) >= 0 && (await top("#drift-policy")) < 200);
  await page.locator("#item-rows button.title").first().click();
  await page.evaluate("location.hash = 'coverage'");
  await page.locator("#item").waitFor({ state: "hidden" });
  assert.match(page.url(), /#coverage$/);
  assert.ok((await top("#coverage")) >= 0 && (await top("#coverage")) < 200);
  const links = await page.locator(":is(h2, h3) a").all();
  assert.ok(links.length > 5);
  for (const link of links) {
    const address = (await link.getAttribute("href")) ?? "";
    assert.equal(await page.locator(address).count(), 1, address);
  }
});

test("columns are found by table, column, comment and origin", { skip }, async (t) => {
  const { page } = await open(t, {}, "#columns");
  const answer = page.locator("#columns-columns");
  const rows = answer.locator("tbody tr");
  const cells = () =>
    rows.evaluateAll((lines) => lines.map((line) => [...line.cells].map((cell) => cell.textContent)));
  assert.equal(await rows.count(), 10);
  for (const [text, expected] of [
    [
      "preferred_title",
      ["preferred_title", "content", "VARCHAR", "Title, or `(no title)` where there is none."],
    ],
    [
      "dynamic:custom_fields_details[].display_label",
      ["display_label", "custom_fields", "VARCHAR", "Label that editors see."],
    ],
    [
      "TITLE IN LOWER CASE",
      ["preferred_title_sort", "content", "VARCHAR", "The preferred title in lower case, for sorting."],
    ],
    [
      "content_wide hero",
      ["hero_image", "content_wide", "VARCHAR", "Hero Image (image, custom field 868f1335e67496feee10ab5b)."],
    ],
    [
      "mapped_value_intervals",
      ["content_id", "mapped_value_intervals", "VARCHAR", "Item; one that was removed is not in content."],
    ],
  ] as const) {
    await answer.getByRole("searchbox").fill(text);
    const found = (await cells()).map((row) => row.slice(0, 4).join(" | "));
    assert.ok(found.includes(expected.join(" | ")), `${text}: ${found}`);
  }
});

long(
  "the keyboard alone reaches the report, its filters and an item, and comes back",
  {
    skip,
  },
  async (t) => {
    const { page } = await open(t);
    const focused = () => page.evaluate("document.activeElement.id || document.activeElement.textContent");
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "Skip to the report");
    assert.ok(await page.locator(".skip").isVisible());
    await page.keyboard.press("Enter");
    assert.equal(await focused(), "main");
    const reached: unknown[] = [];
    for (let presses = 0; presses < 250 && reached.at(-1) !== "Clear"; presses++) {
      await page.keyboard.press("Tab");
      reached.push(await focused());
    }
    const filters = ["text", "type", "destination", "field", "value", "status", "changed"].map(
      (name) => `filter-${name}`,
    );
    assert.deepEqual(reached.slice(-8), [...filters, "Clear"]);
    const heads = ["title", "type", "published", "values", "without external value, receiving"];
    for (const next of ["items-csv", ...heads]) {
      await page.keyboard.press("Tab");
      assert.equal(await focused(), next);
    }
    await page.keyboard.press("Tab");
    const title = await focused();
    const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
    assert.equal(outline, "solid", "the focus can be seen");
    await page.keyboard.press("Enter");
    assert.ok(await page.locator("#item").isVisible());
    assert.equal(await focused(), "Close");
    await page.keyboard.press("Enter");
    assert.equal(await focused(), title, "the focus is where it was");
  },
);

long("a hostile title is not cut off on a phone 360 pixels wide", { skip }, async (t) => {
  const { page } = await open(t, { viewport: { width: 360, height: 740 } });
  for (const id of nights?.hostile.values() ?? []) {
    await field(page, "Title or ID").fill(id);
    await page.locator("#item-rows button.title").click();
    const sizes = await page.locator("#item").evaluate((item) => [item.scrollWidth, item.clientWidth]);
    assert.ok((sizes[0] ?? 0) <= (sizes[1] ?? 0), id);
    await page.keyboard.press("Escape");
  }
  assert.deepEqual(await cutOff(page), []);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
});

test("on a phone the lines of a value stand below each other, beside its label", { skip }, async (t) => {
  const { page } = await open(t, { viewport: { width: 390, height: 844 } });
  await page.locator("#item-rows button.title").first().click();
  await page.locator("#item").getByText("Where this was read", { exact: true }).click();
  const edges = await page.locator("#item .evidence tbody [data-head]").evaluateAll((cells) =>
    cells.map((cell) => {
      const range = cell.ownerDocument.createRange();
      range.selectNodeContents(cell);
      const lines = [...range.getClientRects()].map(({ left }) => Math.round(left));
      return { lines, label: Math.round(cell.getBoundingClientRect().left) };
    }),
  );
  const wrapped = edges.filter(({ lines }) => lines.length > 1);
  assert.ok(wrapped.length > 0, "some value is longer than a line");
  for (const { lines, label } of wrapped)
    assert.deepEqual([new Set(lines).size, Math.min(...lines) > label + 50], [1, true], `${label}: ${lines}`);
});

test("a head sorts its table by figures, texts and dates, and says in which order", { skip }, async (t) => {
  const { page } = await open(t);
  const table = page.getByRole("table", { name: "Requests", exact: true });
  const column = (index: number) =>
    table.locator("tbody tr").evaluateAll((rows, at) => rows.map((row) => row.cells[at]?.textContent), index);
  const sort = (name: string) => table.getByRole("button", { name, exact: true });
  const order = async (name: string) =>
    table.getByRole("columnheader", { name, exact: true }).getAttribute("aria-sort");
  assert.equal(await order("requests"), null);
  const before = (await column(1)).map(Number);
  await sort("requests").click();
  assert.deepEqual(
    (await column(1)).map(Number),
    before.toSorted((a, b) => b - a),
  );
  assert.equal(await order("requests"), "descending");
  await sort("requests").press("Enter");
  assert.deepEqual(
    (await column(1)).map(Number),
    before.toSorted((a, b) => a - b),
  );
  assert.equal(await order("requests"), "ascending");
  await sort("mode").press("Space");
  assert.deepEqual(await column(0), (await column(0)).toSorted());
  assert.deepEqual([await order("mode"), await order("requests")], ["ascending", null]);
});

long(
  "the items are sorted over all of them, those without a date last, and stay so when they are filtered",
  {
    skip,
  },
  async (t) => {
    const { page } = await open(t);
    const dates = () => page.locator("#item-rows td:nth-child(3)").allTextContents();
    const published = page.locator("#item-table").getByRole("button", { name: "published" });
    const { connection } = await opened(nights?.out ?? "");
    const days = await all(
      connection,
      "SELECT strftime(published_date, '%Y-%m-%d') AS day FROM content ORDER BY day NULLS LAST LIMIT 50",
    );
    await published.click();
    assert.deepEqual(
      await dates(),
      days.map(({ day }) => day),
    );
    await field(page, "Content type").selectOption("Article");
    assert.deepEqual(await dates(), (await dates()).toSorted());
    await published.click();
    const last = await dates();
    assert.deepEqual(last, last.toSorted().toReversed());
  },
);

test("without its script the page still has all but the search", { skip }, async (t) => {
  assert.ok(browser !== undefined && nights !== undefined);
  const context = await browser.newContext({ javaScriptEnabled: false });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(nights.out, "current", "report.html")).href);
  const told = await page.locator("noscript p").all();
  assert.ok(told.length > 0);
  for (const each of told) assert.ok(await each.isVisible());
  assert.ok(await page.locator("#filters").isHidden());
  assert.equal(await page.locator("main table button:visible").count(), 0);
  assert.ok(await page.locator(".matrix").isVisible());
  for (const folded of await page.locator("details.answer:not([hidden]) summary").all()) await folded.click();
  const tables = await page.locator(".answer:not([hidden]) table").all();
  assert.ok(tables.length > 5);
  for (const table of tables) assert.ok(await table.isVisible());
});

test("the items that were found are saved as CSV, with those that are not shown yet", { skip }, async (t) => {
  const { page } = await open(t);
  const saved = async () => {
    const button = page.getByRole("button", { name: "CSV: Items" });
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    assert.equal(download.suggestedFilename(), "items.csv");
    return (await readFile(await download.path(), "utf8")).split("\n").slice(0, -1);
  };
  const [head, ...lines] = await saved();
  assert.equal(head, 'title,type,published,values,"without external value, receiving",apart,item');
  assert.equal(lines.length, either(500, 499));
  await page.locator("#item-table").getByRole("button", { name: "values", exact: true }).click();
  await field(page, "Status").selectOption({ label: "without external value, receiving" });
  const some = (await saved()).slice(1).map((line) => line.split(",").slice(-4));
  assert.equal(some.length, Number(/^\d+/.exec((await found(page)) ?? "")?.[0]));
  assert.ok(some.length > 50 && some.length < lines.length, `${some.length}`);
  assert.deepEqual(
    some.map(([values]) => Number(values)),
    some.map(([values]) => Number(values)).toSorted((a, b) => b - a),
  );
  await using run = await opened(nights?.out ?? "");
  const counted = await all(
    run.connection,
    `SELECT content_id, count(*)::INTEGER AS values FROM content_mapped_values GROUP BY ALL`,
  );
  const values = new Map(counted.map((row) => [row.content_id, row.values]));
  for (const [figure, without, , id] of some) {
    assert.equal(Number(figure), values.get(id ?? ""));
    assert.ok(Number(without) > 0);
  }
  await field(page, "Title or ID").fill("no item is called like that");
  assert.ok(await page.getByRole("button", { name: "CSV: Items" }).isHidden());
});

test("a table is searched, unfolded, and saved as CSV with exact figures", { skip }, async (t) => {
  const { page } = await open(t);
  const answer = page.locator("#coverage-coverage");
  const rows = answer.locator("tbody tr");
  const all = Number(
    /\d+/.exec((await answer.getByRole("button", { name: /^Show all/ }).textContent()) ?? ""),
  );
  assert.ok(all > 20);
  assert.equal(await rows.count(), 20);
  await answer.getByRole("searchbox").fill("AUDIENCE");
  const some = await rows.count();
  assert.ok(some > 0);
  assert.ok((await rows.allTextContents()).every((text) => /audience/i.test(text)));
  assert.equal(await answer.getByRole("status").textContent(), `${some} of ${all} rows`);
  const saved = async () => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      answer.getByRole("button", { name: "CSV: Coverage, in values" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "coverage-coverage.csv");
    return (await readFile(await download.path(), "utf8")).split("\n");
  };
  assert.equal((await saved()).length, some + 2);
  await answer.getByRole("searchbox").fill("");
  await answer.getByRole("button", { name: /^Show all/ }).click();
  assert.equal(await rows.count(), all);
  const { stdout } = await program(["audit", "--warehouse", nights?.out ?? "", "--format", "json"]);
  const { coverage } = JSON.parse(stdout);
  const lines = await saved();
  assert.match(lines[0] ?? "", /^destination,field,external name,items,values,mapped,/);
  assert.deepEqual(
    lines.slice(1, -1).map((line) => line.split(",").slice(-10, -7).map(Number)),
    coverage.map(({ items, values, mapped }: Record<string, number>) => [items, values, mapped]),
  );
});
