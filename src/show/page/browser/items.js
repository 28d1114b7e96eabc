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
  if (byId("search") === null) return;
  /** Rows of a block: gzipped JSON in base64. */
  function unpacked(block) {
    const bytes = Uint8Array.from(atob(block), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  // Blocks of items come before those of their values, which name the index of their item.
  const items = [];
  for (const row of (await Promise.all(byId("data").textContent.split("\n").map(unpacked))).flat()) {
    if (row.item === undefined) items.push({ ...row, values: [] });
    else items[row.item]?.values.push(row);
  }
  for (const item of items) {
    const { id, slug, title, type, values } = item;
    const texts = values.flatMap((each) => [
      each.destination ?? each.destination_id,
      each.custom_field ?? each.custom_field_id,
      each.external_field_name,
      each.value,
      each.external_value,
      each.status,
      each.flags,
    ]);
    item.names = [title, id, slug].map((name) => (name ?? "").toLowerCase());
    item.search = [...new Set([title, id, slug, type, ...texts.flat()])].join("\n").toLowerCase();
  }

  // The list.

  const words = byId("words");
  let found = items;
  let shown = 0;

  /** 0: a whole title, ID or slug; 1: its beginning; 2: any text of the item; 3: not found. */
  function rank({ names, search }, text) {
    if (names.includes(text)) return 0;
    if (names.some((name) => name.startsWith(text))) return 1;
    return search.includes(text) ? 2 : 3;
  }

  function search() {
    const text = words.value.trim().toLowerCase();
    const ranks = Map.groupBy(items, (item) => (text === "" ? 0 : rank(item, text)));
    found = [0, 1, 2].flatMap((each) => ranks.get(each) ?? []);
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
    const told = `${count(found.length)} of ${count(items.length)} items${part}.`;
    byId("found").textContent = found.length === 0 ? `${told} ${extentText()}` : told;
  }

  /** Whether a search that finds nothing has seen all. */
  function extentText() {
    const total = Number(byId("found").dataset.total);
    if (items.length < total)
      return `The page has ${count(items.length)} of ${count(total)} items; content-warehouse explain ITEM finds the others.`;
    const valued = items.filter((item) => item.values.length === item.count).length;
    const values = valued === total ? "" : `, and the values of ${count(valued)}`;
    return `The page has all items of the run${values}.`;
  }

  function titleOf({ title }) {
    return title === null || title.trim() === "" ? element("em", {}, "without title") : foreign(title);
  }

  function itemRow(item) {
    const link = element("a", { href: `#item=${encodeURIComponent(item.id)}` }, titleOf(item));
    return element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        link,
        item.changed ? element("span", { class: "note" }, " changed") : [],
      ),
      element("td", {}, foreign(item.type ?? "")),
      element("td", {}, item.published ?? "no"),
      element("td", { class: "number" }, count(item.count)),
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
    return [head("Not in this page"), note(code(id), ` is not here. ${extentText()}`)];
  }

  function itemParts(item) {
    const published = item.published === null ? ", not published, " : `, published ${item.published}, `;
    const isApart = ({ reception }) => reception !== "receiving";
    const values = item.values.toSorted((a, b) => isApart(a) - isApart(b));
    const cards = [...Map.groupBy(values, (value) => value.destination_id)].map(([id, some]) =>
      card(some, some[0].destination ?? id),
    );
    const none =
      item.count === 0
        ? "No destination has a mapping for a value of this item."
        : "The page has no room for the values of this item.";
    return [
      head(titleOf(item)),
      note(foreign(item.type ?? "no content type"), published, code(item.id)),
      cards.length === 0 ? note(none) : element("div", { class: "cards" }, cards),
      note("Rule by rule, with the request: ", code(`content-warehouse explain ${item.id} --steps`)),
    ].flat();
  }

  /** What a destination receives of an item, what it misses and why, and how each value came about. */
  function card(values, destination) {
    const isApart = values[0].reception !== "receiving";
    const sent = Map.groupBy(
      values.filter((value) => value.sent !== null),
      (value) => value.external_field_name,
    );
    const members = [...sent].map(([name, some], index) => [
      index === 0 ? "{\n  " : ",\n  ",
      foreign(JSON.stringify(name)),
      ": [",
      some.map((value, at) => [at === 0 ? "" : ", ", foreign(JSON.stringify(value.sent))]),
      "]",
    ]);
    const unsent = values
      .filter((value) => value.sent === null)
      .map((value) =>
        element(
          "li",
          {},
          value.external_field_name === null
            ? named(value.custom_field, value.custom_field_id)
            : code(value.external_field_name),
          " ",
          foreign(reason(value)),
        ),
      );
    return element(
      "section",
      { class: "card" },
      element("h3", {}, foreign(destination)),
      isApart ? note("Receives no values; this is what it would get.") : [],
      element("pre", {}, members.length === 0 ? "{}" : [members, "\n}"]),
      unsent.length === 0 ? [] : element("ul", { class: "note" }, unsent),
      element(
        "details",
        {},
        element("summary", {}, "Mapping, entry, since"),
        valueTable(values, destination),
      ),
    );
  }

  /** Why nothing is sent of a value. */
  function reason({ status, value, value_id, external_field_name, external_value }) {
    const text = JSON.stringify(value ?? value_id ?? "");
    const lack = status === "no_value_mapping" ? "not sent" : "missing";
    if (external_field_name === null) return `${lack}: the mapping of ${text} names no field`;
    if (status === "unmapped") return `missing: no entry for ${text}`;
    if (status === "unknown_value") return `missing: the field does not list ${text}`;
    if (external_value === null && status === "mapped")
      return `missing: the entry for ${text} has no external value`;
    return "not sent: the field has no value mappings";
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
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || dialog.open || event.target === words) return;
    event.preventDefault();
    words.focus();
  });
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
