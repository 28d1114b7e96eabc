// Searches the items of the report, and shows what each destination receives. Texts of the service never become markup,
// addresses or code. The page declares `INVISIBLE` before this script.
(async () => {
  const PAGE_SIZE = 50;
  const byId = (id) => document.getElementById(id);
  const count = (number) => number.toLocaleString("en-US");

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children.flat(Number.POSITIVE_INFINITY));
    return made;
  }

  /** A text of the service, with marks for invisible characters. */
  function foreign(text) {
    const parts = [];
    let from = 0;
    for (const { 1: invisible, index } of text.matchAll(INVISIBLE)) {
      if (invisible === undefined) continue;
      const number = invisible.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      parts.push(text.slice(from, index), element("span", { class: "mark" }, `[U+${number}]`));
      from = index + invisible.length;
    }
    return element("bdi", {}, parts, text.slice(from));
  }

  const code = (text) => element("code", {}, foreign(text));
  const named = (name, id) => (name === null ? code(id) : foreign(name));
  const note = (...parts) => element("p", { class: "note" }, parts);
  const small = (...parts) => element("small", {}, parts);
  /** A value of the address: `#item=ID`, `#find=WORDS`. */
  const addressed = (name) => new URLSearchParams(location.hash.slice(1)).get(name);

  // The age of the run at the time of reading.
  const hours = Math.floor((Date.now() - Date.parse(document.querySelector("time").dateTime)) / 36e5);
  const age =
    hours < 1 ? "less than 1 h" : hours < 48 ? `${hours} h` : `${count(Math.floor(hours / 24))} days`;
  byId("age").textContent = `, ${age} ago`;

  /** Shows the section that the address names, even if it is folded. */
  function unfoldNamed() {
    const section = byId(location.hash.slice(1));
    if (section === null) return;
    for (let each = section; each !== null; each = each.parentElement)
      if (each.localName === "details") each.open = true;
    section.scrollIntoView();
  }
  addEventListener("hashchange", unfoldNamed);
  unfoldNamed();
  // The address names the section that is opened, so that it can be sent to somebody.
  for (const section of document.querySelectorAll("details[id]"))
    section.firstElementChild.addEventListener("click", () => {
      if (!section.open) history.replaceState(null, "", `#${section.id}`);
    });
  // Folded sections are printed too.
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details")) each.open = true;
  });

  if (byId("search") === null) return;
  const packed = Uint8Array.from(atob(byId("data").textContent), (character) => character.charCodeAt(0));
  const rows = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const items = [];
  // The row of an item comes before those of its values.
  for (const row of await new Response(rows).json()) {
    if (row.values === undefined) items.at(-1).values.push(row);
    else items.push(row);
  }
  for (const item of items) {
    const { id, title, type, values } = item;
    const texts = values.flatMap((each) => [
      each.destination ?? each.destination_id,
      each.custom_field ?? each.custom_field_id,
      each.external_field_name,
      each.value,
      each.external_value,
      each.status,
      each.flags,
    ]);
    item.search = [...new Set([title, id, type, ...texts.flat()])].join("\n").toLowerCase();
  }

  // The list.

  const words = byId("words");
  let found = items;
  let shown = 0;

  function search() {
    const text = words.value.trim().toLowerCase();
    found = items.filter((item) => item.search.includes(text));
    shown = 0;
    byId("item-rows").replaceChildren();
    byId("item-table").hidden = found.length === 0;
    showMore();
    if (text !== "") byId("items").scrollIntoView();
  }

  function showMore() {
    const next = found.slice(shown, shown + PAGE_SIZE);
    byId("item-rows").append(...next.map(itemRow));
    shown += next.length;
    byId("more").hidden = shown === found.length;
    byId("more").textContent = `Show ${count(Math.min(PAGE_SIZE, found.length - shown))} more`;
    const part = shown < found.length ? `; the first ${count(shown)} are shown` : "";
    byId("found").textContent = `${count(found.length)} of ${count(items.length)} items${part}.`;
  }

  function titleOf({ title }) {
    return title === null || title.trim() === "" ? element("em", {}, "without title") : foreign(title);
  }

  function itemRow(item) {
    const link = element("a", { href: `#item=${encodeURIComponent(item.id)}` }, titleOf(item));
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, link),
      element("td", {}, foreign(item.type ?? "")),
      element("td", {}, item.published ?? "no"),
      element("td", { class: "number" }, count(item.values.length)),
      element("td", { class: "number" }, count(item.without)),
    );
  }

  /** Puts the words into the address, so that a search can be sent to somebody. */
  function nameSearch() {
    const find = words.value.trim();
    history.replaceState(null, "", find === "" ? "#items" : `#${new URLSearchParams({ find })}`);
  }

  function searchNamed() {
    const find = addressed("find");
    if (find === null) return;
    words.value = find;
    search();
  }

  // One item, which the address names.

  const dialog = byId("item");

  function openNamed() {
    const id = addressed("item");
    if (id === null) {
      dialog.close();
      return;
    }
    const item = items.find((each) => each.id === id);
    dialog.replaceChildren(...(item === undefined ? missing(id) : itemParts(item)));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }

  function head(title) {
    const close = element("button", { type: "button" }, "Close");
    close.addEventListener("click", () => dialog.close());
    return element("div", { class: "item-head" }, element("h2", { id: "item-title" }, title), close);
  }

  /** The address may be older than the page. */
  function missing(id) {
    const told = " was removed, or the page has no room for it; this says which: ";
    return [head("Not in this page"), note(code(id), told, code("content-warehouse explain ITEM"))];
  }

  function itemParts(item) {
    const published = item.published === null ? ", not published, " : `, published ${item.published}, `;
    const isApart = ({ reception }) => reception !== "receiving";
    const values = item.values.toSorted((a, b) => isApart(a) - isApart(b));
    const parts = [...Map.groupBy(values, (value) => value.destination_id)].flatMap(([id, values]) => [
      element("h3", {}, named(values[0].destination, id)),
      ...(isApart(values[0]) ? [note("Receives no values; this is what it would get.")] : []),
      valueTable(values, values[0].destination ?? id),
    ]);
    return [
      head(titleOf(item)),
      note(foreign(item.type ?? "no content type"), published, code(item.id)),
      ...(parts.length === 0 ? [note("No destination has a mapping for a value of this item.")] : parts),
      note(
        "Rule by rule, with the request that says so: ",
        code(`content-warehouse explain ${item.id} --steps`),
      ),
    ];
  }

  const HEADS = ["key", "sent", "field", "value", "status", "since"];

  function valueTable(values, destination) {
    const heads = HEADS.map((name) => element("th", { scope: "col" }, name));
    const table = element(
      "table",
      {},
      element("caption", { class: "visually-hidden" }, "Payload for ", foreign(destination)),
      element("thead", {}, element("tr", {}, heads)),
      element("tbody", {}, values.map(valueRow)),
    );
    const label = `Payload for ${foreign(destination).textContent}`;
    return element("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": label }, table);
  }

  function valueRow(row) {
    const { value, value_id, mapping_id, mapping_value_id, since } = row;
    const key =
      row.external_field_name === null ? element("em", {}, "no name") : code(row.external_field_name);
    const cells = [
      row.sent === null ? element("em", {}, "not sent") : foreign(row.sent),
      named(row.custom_field, row.custom_field_id),
      [
        value === null ? element("em", {}, "without text") : foreign(value),
        value_id === null ? [] : small(code(value_id)),
      ],
      [
        [row.status, ...row.flags].join(", ").replaceAll("_", " "),
        small("mapping ", code(mapping_id)),
        mapping_value_id === null ? [] : small("entry ", code(mapping_value_id)),
      ],
      since === null ? "" : [`run ${count(since)}`, small(foreign(row.causes ?? ""))],
    ];
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, key),
      cells.map((cell) => element("td", {}, cell)),
    );
  }

  dialog.addEventListener("close", () => {
    if (addressed("item") !== null) nameSearch();
  });
  addEventListener("hashchange", openNamed);
  addEventListener("hashchange", searchNamed);
  byId("search").hidden = false;
  byId("search").addEventListener("submit", (event) => event.preventDefault());
  words.addEventListener("input", () => {
    nameSearch();
    search();
  });
  byId("more").addEventListener("click", () => {
    const before = shown;
    showMore();
    byId("item-rows").children[before]?.querySelector("a")?.focus();
  });
  search();
  searchNamed();
  openNamed();
})();
