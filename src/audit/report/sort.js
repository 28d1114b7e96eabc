// Tables that are sorted by a column. Without this script they keep the order that they came in.

const SORT_COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Makes each head of a table a button that sorts by its column. `sortBy(column, compare)` puts the rows in order. */
function makeSortable(table, sortBy) {
  const heads = [...table.tHead.rows[0].cells];
  for (const [column, head] of heads.entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
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

/** What a cell is sorted by: its figure, where it is one, or its text. */
function sortKey(cell) {
  const text = cell.dataset.sort ?? cell.textContent.trim();
  const figure = cell.classList.contains("number") ? Number(text.replace(/,|%$/g, "")) : Number.NaN;
  return text === "" || Number.isNaN(figure) ? text : figure;
}

/** Empty cells are last either way; rows that are alike stay in their order. */
function sorted(entries, keyOf, compare) {
  const keyed = entries.map((entry) => ({ entry, key: keyOf(entry) }));
  const [full, empty] = [keyed.filter(({ key }) => key !== ""), keyed.filter(({ key }) => key === "")];
  return [...full.sort((a, b) => compare(a.key, b.key)), ...empty].map(({ entry }) => entry);
}

for (const table of document.querySelectorAll("main table:not(#item-table table)")) {
  const [body] = table.tBodies;
  makeSortable(table, (column, compare) => {
    body.append(...sorted([...body.rows], (row) => sortKey(row.cells[column]), compare));
  });
}
