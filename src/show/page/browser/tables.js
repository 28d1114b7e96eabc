// `INVISIBLE` and `FORMULA` are declared for all of the package, and stand before this script in the page.
// Tables that are sorted by a column, searched and written as CSV. Without this script they stand as they came.

const SORT_COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
/** Rows of a table that were found, before it is unfolded. */
const FOUND_SHOWN = 20;
/** Rows of any table before it is unfolded, where a row takes several lines. */
const NARROW_SHOWN = 6;
const IS_NARROW = matchMedia("(max-width: 68rem)").matches;

const count = (number) => number.toLocaleString("en-US");
const counted = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(
    ...children.flat(Number.POSITIVE_INFINITY).filter((child) => child !== null && child !== false),
  );
  return made;
}

// Texts of foreign origin, with marks for what cannot be seen.

function marked(text, mark) {
  const parts = [];
  let from = 0;
  for (const { 1: invisible, index } of text.matchAll(INVISIBLE)) {
    if (invisible === undefined) continue;
    const number = invisible.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(text.slice(from, index), mark(`[U+${number}]`));
    from = index + invisible.length;
  }
  return [...parts, text.slice(from)];
}

const foreign = (text) =>
  element(
    "bdi",
    {},
    marked(text, (name) => element("span", { class: "mark" }, name)),
  );
const code = (text) => element("code", {}, foreign(text));

/** Makes each head of a table a button that sorts by its column. `sortBy(column, compare)` puts the rows in order. */
function makeSortable(table, sortBy) {
  const heads = [...table.tHead.rows[0].cells];
  for (const [column, head] of heads.entries()) {
    const button = element("button", { type: "button", class: "sort" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // The first click on a figure puts the largest first.
      const first = head.matches(".number, .most-first") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const direction = head.getAttribute("aria-sort") === first ? other : first;
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction);
      sortBy(column, direction === "ascending" ? compareKeys : (a, b) => compareKeys(b, a));
    });
  }
}

/** Figures before texts. */
function compareKeys(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return SORT_COLLATOR.compare(a, b);
}

/** Of a cell: what it shows as people read it, and what that was made of. */
const rawText = (cell) => cell.dataset.value ?? cell.textContent.trim();

function cellValue(cell) {
  const text = rawText(cell);
  const figure = cell.classList.contains("number") ? Number(text) : Number.NaN;
  return text === "" || Number.isNaN(figure) ? text : figure;
}

/** Empty cells are last either way; rows that are alike stay in their order. */
function sorted(entries, keyOf, compare) {
  const keyed = entries.map((entry) => ({ entry, key: keyOf(entry) }));
  const [full, empty] = [keyed.filter(({ key }) => key !== ""), keyed.filter(({ key }) => key === "")];
  return [...full.sort((a, b) => compare(a.key, b.key)), ...empty].map(({ entry }) => entry);
}

/** A line in CSV by RFC 4180, of texts and figures. */
function csvLine(values) {
  const texts = values.map((value) => {
    const text = String(value);
    const guarded = FORMULA.test(text) && typeof value !== "number" ? `'${text}` : text;
    return /[",;\t\r\n]|^ | $/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
  });
  return `${texts.join(",")}\n`;
}

function saveCsv(name, rows) {
  const address = URL.createObjectURL(new Blob(rows.map(csvLine), { type: "text/csv" }));
  element("a", { href: address, download: `${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A narrow screen has each row as lines of its own. */
function labelCells(table) {
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
  for (const row of [...table.rows].slice(1))
    for (const [place, cell] of [...row.cells].entries()) cell.dataset.head = heads[place];
}

/** A table of an answer: sorting, a search, unfolding, and its rows as CSV. */
function enhance(answer) {
  const table = answer.querySelector("table");
  const title = answer.querySelector("h3").textContent;
  const [body] = table.tBodies;
  const all = [...body.rows];
  labelCells(table);
  const search = element("input", {
    type: "search",
    "aria-label": `Search: ${title}`,
    placeholder: "Search",
    autocomplete: "off",
    spellcheck: "false",
  });
  const found = element("span", { role: "status" });
  const csv = element("button", { type: "button", "aria-label": `CSV: ${title}` }, "CSV");
  const more = element("button", { type: "button", class: "more", "aria-expanded": "false" });
  const state = { isWhole: false, ordered: all };
  const matching = () => {
    const words = search.value.trim().toLowerCase().split(/\s+/);
    return state.ordered.filter((row) => {
      const text = row.textContent.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  };
  const draw = () => {
    const rows = matching();
    const most = search.value === "" ? Number(answer.dataset.limit) : FOUND_SHOWN;
    const limit = IS_NARROW ? Math.min(most, NARROW_SHOWN) : most;
    const shown = state.isWhole ? rows : rows.slice(0, limit);
    body.replaceChildren(...shown);
    table.hidden = shown.length === 0;
    more.hidden = rows.length <= limit;
    more.textContent = state.isWhole ? "Show fewer" : `Show all ${count(rows.length)}`;
    more.setAttribute("aria-expanded", state.isWhole);
    found.textContent =
      rows.length < all.length ? `${count(rows.length)} of ${counted(all.length, "row")}` : "";
  };
  makeSortable(table, (column, compare) => {
    state.ordered = sorted(all, (row) => cellValue(row.cells[column]), compare);
    draw();
  });
  search.addEventListener("input", draw);
  csv.addEventListener("click", () =>
    saveCsv(
      answer.id,
      [table.tHead.rows[0], ...matching()].map((row) => [...row.cells].map(cellValue)),
    ),
  );
  more.addEventListener("click", () => {
    state.isWhole = !state.isWhole;
    draw();
  });
  const tools = element("p", { class: "tools" }, found, all.length > 5 && search, csv);
  answer.querySelector(".answer-head").append(tools);
  table.after(more);
  draw();
}

/** A name that is longer, in characters, is broken where there is no room for it. */
const WORD_LENGTH = 32;
/** Where a packed row has its sentence. */
const COMMENT = 3;

/** Rows that come packed: each cell is the number of its text. */
function unpack({ texts, rows }) {
  const made = (cells) =>
    cells.map((cell, place) => {
      const text = texts[cell];
      const content = place === COMMENT || text === "" ? foreign(text) : code(text);
      const options = text.length > WORD_LENGTH ? { class: "long" } : {};
      return place === 0
        ? element("th", { scope: "row", ...options }, content)
        : element("td", options, content);
    });
  return rows.map((cells) => element("tr", {}, made(cells)));
}

for (const answer of document.querySelectorAll(".answer")) {
  const packed = answer.querySelector("script");
  if (packed !== null) answer.querySelector("tbody").append(...unpack(JSON.parse(packed.textContent)));
  answer.hidden = false;
  enhance(answer);
}
for (const matrix of document.querySelectorAll(".matrix")) labelCells(matrix);

/** What the address names is shown, also where it is folded. */
function unfoldNamed() {
  const named = document.getElementById(location.hash.slice(1));
  named?.closest("details")?.setAttribute("open", "");
  if (named?.querySelector(":scope > table")?.hidden) named.querySelector(".more").click();
  named?.scrollIntoView();
}
addEventListener("hashchange", unfoldNamed);
unfoldNamed();
