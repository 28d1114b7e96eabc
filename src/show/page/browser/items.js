// The items of a page: search, and what each destination receives. What the service sent only ever becomes text: no
// markup, no address, no code.
(() => {
  const PAGE_SIZE = 50;
  const WITHOUT_SHOWN = 3;
  const VALUES_OFFERED = 400;
  const byId = (id) => document.getElementById(id);
  if (byId("filters") === null) return;
  const data = JSON.parse(byId("data").textContent);
  const { statuses, flags, without } = data;

  const textOf = (number) => (number === null ? null : data.texts[number]);
  const destinations = data.destinations.map(([id, name, unsupported, receives]) => ({
    id,
    name,
    unsupported,
    receives,
  }));
  const fields = data.fields.map(([id, name]) => ({ id, name }));
  const answers = data.answers.map(
    ([destination, field, name, valueId, value, mapping, entry, external, why, status, bits]) => ({
      destination: destinations[destination],
      field: fields[field],
      name: textOf(name),
      valueId: textOf(valueId),
      value: textOf(value),
      mapping: textOf(mapping),
      entry: textOf(entry),
      external: textOf(external),
      why: textOf(why),
      status: statuses[status],
      flags: flags.filter((_, bit) => (bits & (1 << bit)) !== 0),
    }),
  );
  const versions = data.versions.map(([sequence, day, begins, causes]) => ({
    run: `run ${sequence} of ${day}`,
    begins,
    causes,
  }));
  const items = data.items.map(([id, title, type, published, numbers, read, since, changed]) => ({
    id,
    title,
    type: type === null ? null : data.types[type],
    published,
    numbers,
    read,
    changed,
    versionAt: (place) => versions[typeof since === "number" ? since : since[place]],
    search: `${title ?? ""}\n${id}`.toLowerCase(),
  }));
  const answersOf = (item) => item.numbers.map((number) => answers[number]);
  const has = (answer, flag) => answer.flags.includes(flag);
  const isWithout = ({ status, destination }) => without.includes(status) && destination.receives;
  const isApart = ({ status, destination }) => without.includes(status) && !destination.receives;

  const plain = (text) => marked(text, (name) => name).join("");
  const named = ({ name, id }) => (name === null ? code(id) : foreign(name));
  const span = (name, ...children) => element("span", { class: name }, ...children);

  function valuePart({ value, valueId }) {
    if (value !== null) return value.trim() === "" ? element("em", {}, "empty text") : foreign(value);
    return valueId === null ? element("em", {}, "without text") : code(valueId);
  }

  // Filters.

  const filters = Object.fromEntries(
    ["text", "type", "destination", "field", "value", "status", "changed"].map((name) => [
      name,
      byId(`filter-${name}`),
    ]),
  );

  function offer(select, labels) {
    for (const [value, label] of labels) select.append(element("option", { value }, plain(label)));
  }

  function byLabel([, a], [, b]) {
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function offerChoices() {
    offer(filters.type, data.types.map((name) => [name, name]).sort(byLabel));
    for (const key of ["destination", "field"]) {
      const used = [...new Set(answers.map((answer) => answer[key]))];
      const names = used.map(({ name, id }) => name ?? id);
      const isShared = (name) => names.indexOf(name) !== names.lastIndexOf(name);
      const labels = used.map(({ id }, index) => [
        id,
        isShared(names[index]) ? `${names[index]} (${id})` : names[index],
      ]);
      offer(filters[key], labels.sort(byLabel));
    }
    offer(filters.status, [
      ["without", "without external value, receiving"],
      ["apart", "without external value, not receiving"],
      ...[...statuses, ...flags].map((name) => [name, name.replaceAll("_", " ")]),
    ]);
    if (data.changedSince === null) filters.changed.parentElement.hidden = true;
    offer(filters.changed, [
      ["payload", "with a payload change"],
      ["changed", "changed"],
      ["unchanged", "not changed"],
    ]);
    const values = [...new Set(answers.filter(({ valueId }) => valueId !== null).map(({ value }) => value))];
    const offered = values.filter((each) => each !== null).sort();
    byId("values").append(...offered.slice(0, VALUES_OFFERED).map((value) => element("option", { value })));
  }

  /** Whether each answer has what is asked for of a value; undefined: nothing is. */
  function wantedAnswers() {
    const [destination, field, status] = [
      filters.destination.value,
      filters.field.value,
      filters.status.value,
    ];
    const value = filters.value.value.trim().toLowerCase();
    if (destination === "" && field === "" && status === "" && value === "") return undefined;
    const isStatus = (answer) =>
      answer.status === status ||
      has(answer, status) ||
      (status === "without" && isWithout(answer)) ||
      (status === "apart" && isApart(answer));
    const isValue = (answer) =>
      [answer.value, answer.external, answer.valueId].some((text) => text?.toLowerCase().includes(value));
    return answers.map(
      (answer) =>
        (destination === "" || answer.destination.id === destination) &&
        (field === "" || answer.field.id === field) &&
        (status === "" || isStatus(answer)) &&
        (value === "" || isValue(answer)),
    );
  }

  function isAsChanged({ changed }) {
    switch (filters.changed.value) {
      case "payload":
        return changed === data.changes.indexOf("payload");
      case "changed":
        return changed !== null;
      case "unchanged":
        return changed === null;
      default:
        return true;
    }
  }

  // The list, in the order that its table has.

  let ordered = items;
  let found = items;
  let shown = 0;

  /** What each column of the table is sorted by, and holds as CSV; empty: last. */
  const ITEM_KEYS = [
    ({ title }) => title?.trim() ?? "",
    ({ type }) => type ?? "",
    ({ published }) => published ?? "",
    ({ numbers }) => numbers.length,
    (item) => answersOf(item).filter(isWithout).length,
  ];
  /** What CSV has beside them. */
  const CSV_KEYS = { apart: (item) => answersOf(item).filter(isApart).length, item: ({ id }) => id };

  function search() {
    const wanted = wantedAnswers();
    const text = filters.text.value.trim().toLowerCase();
    const type = filters.type.value;
    found = ordered.filter(
      (item) =>
        (type === "" || item.type === type) &&
        (text === "" || item.search.includes(text)) &&
        isAsChanged(item) &&
        (wanted === undefined || item.numbers.some((number) => wanted[number])),
    );
    shown = 0;
    byId("item-rows").replaceChildren();
    byId("item-table").hidden = found.length === 0;
    byId("items-csv").hidden = found.length === 0;
    showMore();
  }

  function showMore() {
    const next = found.slice(shown, shown + PAGE_SIZE);
    byId("item-rows").append(...next.map(itemRow));
    shown += next.length;
    byId("more").hidden = shown === found.length;
    byId("more").textContent = `Show ${count(Math.min(PAGE_SIZE, found.length - shown))} more`;
    byId("found").textContent = foundText();
  }

  /** All that were found, in their order, whether they are shown or not. */
  function saveFound() {
    const heads = [...byId("item-table").tHead.rows[0].cells].map(cellValue);
    const keys = [...ITEM_KEYS, ...Object.values(CSV_KEYS)];
    const rows = found.map((item) => keys.map((keyOf) => keyOf(item)));
    saveCsv("items", [[...heads, ...Object.keys(CSV_KEYS)], ...rows]);
  }

  function foundText() {
    if (found.length === 0)
      return `No item in this page is like that. Clear a filter to see more.${removedText()}`;
    const part = shown < found.length ? `, the first ${count(shown)} are shown` : "";
    const of = found.length === items.length ? "" : `${count(found.length)} of `;
    return `${of}${counted(items.length, "item")}${part}.${removedText()}`;
  }

  /** The tile and `diff` count removed items too. */
  function removedText() {
    const removed = data.removed[filters.changed.value] ?? 0;
    if (removed === 0) return "";
    return ` ${counted(removed, "removed item")} changed as well, and ${removed === 1 ? "is" : "are"} not in this list.`;
  }

  function titleOf({ title }) {
    return title === null || title.trim() === "" ? element("em", {}, "without title") : foreign(title);
  }

  function itemRow(item) {
    const type = item.type ?? "";
    const button = element("button", { type: "button", class: "title" }, titleOf(item));
    button.addEventListener("click", () => open(item));
    const lacking = answersOf(item).filter(isWithout);
    const apart = answersOf(item).filter(isApart).length;
    const meta = span("meta", foreign(type), item.published === null ? "" : `, ${item.published}`);
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, button, meta),
      element("td", {}, foreign(type)),
      element("td", {}, item.published ?? span("none", "no")),
      element("td", { class: "number" }, count(item.numbers.length)),
      element(
        "td",
        {},
        lacking.length + apart === 0 && span("none", "none"),
        lacking.length > 0 && withoutList(lacking),
        apart > 0 && span("from", `${count(apart)} apart, at destinations that receive no values`),
      ),
    );
  }

  function withoutList(lacking) {
    const more = lacking.length - WITHOUT_SHOWN;
    const told = lacking
      .slice(0, WITHOUT_SHOWN)
      .map((answer) => [
        valuePart(answer),
        span("from", " of ", named(answer.field), " for ", named(answer.destination)),
      ]);
    if (more > 0) told.push(span("from", `and ${count(more)} more`));
    return element(
      "ul",
      {},
      told.map((each) => element("li", {}, each)),
    );
  }

  // One item.

  const dialog = byId("item");

  function open(item) {
    const published = item.published === null ? ", not published" : `, published ${item.published}`;
    const meta = element("p", {}, foreign(item.type ?? "no content type"), published, ", ", code(item.id));
    const parts = destinations.map((destination) => destinationPart(item, destination));
    const command = code(`content-warehouse explain ${item.id} --steps`);
    show(
      cardHead(titleOf(item), meta),
      element("div", { class: "destinations" }, parts),
      sinceNote(item),
      evidencePart(item),
      element("p", { class: "note" }, "Rule by rule, with the request that says so: ", command),
    );
    setHash(`#item=${encodeURIComponent(item.id)}`);
  }

  /** Of an address that may be older than the page. `id`: as the address has it. */
  function openMissing(id) {
    const told = "It was removed, or the page has no room for it; this says which: ";
    show(
      cardHead("Not in this page", element("p", {}, code(id))),
      element("p", { class: "note" }, told, code("content-warehouse explain ITEM")),
    );
  }

  function cardHead(title, meta) {
    const close = element("button", { type: "button" }, "Close");
    close.addEventListener("click", () => dialog.close());
    const heading = element("h2", { id: "item-title" }, title);
    return element("div", { class: "item-head" }, element("div", {}, heading, meta), close);
  }

  function show(...parts) {
    dialog.replaceChildren(...parts.filter((part) => part !== false));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }

  function destinationPart(item, destination) {
    const own = item.numbers
      .map((number, place) => ({ ...answers[number], since: item.versionAt(place) }))
      .filter((answer) => answer.destination === destination);
    const sent = own.filter((answer) => has(answer, "sent"));
    const others = own.filter((answer) => !has(answer, "sent"));
    const note = (text) => element("p", { class: "note" }, text);
    return element(
      "section",
      { class: "destination" },
      element("h3", {}, named(destination)),
      destination.unsupported && note("The service says that this destination supports no mappings."),
      sent.length === 0
        ? note("Receives nothing of this item’s custom fields.")
        : [
            element(
              "dl",
              {},
              members(sent).map(([name, group]) => [element("dt", {}, code(name)), group.map(valueEntry)]),
            ),
            jsonPart(sent),
          ],
      others.length > 0 && [
        element("h4", {}, "Not sent"),
        element(
          "dl",
          {},
          others.map((answer) => [element("dt", {}, named(answer.field)), valueEntry(answer)]),
        ),
      ],
    );
  }

  const members = (sent) => [...Map.groupBy(sent, ({ name }) => name)];
  const sentValue = ({ status, external, value }) => (status === "mapped" ? external : value);

  /** What is sent and where it is from, or the value; why; and the IDs of what says so. */
  function valueEntry(answer) {
    const { field, valueId, mapping, entry, why } = answer;
    const isSent = has(answer, "sent");
    const tags = answer.flags.filter((flag) => flag !== "sent");
    const ids = Object.entries({ value: valueId, mapping, entry }).filter(([, id]) => id !== null);
    return element(
      "dd",
      {},
      span("sent", isSent ? foreign(sentValue(answer)) : valuePart(answer)),
      span(
        "whence",
        isSent && [named(field), ": ", valuePart(answer), "; "],
        foreign(why),
        tags.map((flag) => [" ", span("tag", flag.replaceAll("_", " "))]),
      ),
      sinceEntry(answer),
      span(
        "ids",
        ids.map(([what, id]) => span("id", `${what} `, code(id))),
      ),
    );
  }

  /** Since when a value is as it is, and why; what the history begins with has a note of its own. */
  function sinceEntry(answer) {
    const { since } = answer;
    if (since === undefined || since.begins) return false;
    const { run, causes } = since;
    return span("since", `Since ${run} (${causes.replaceAll(" ", ", ")})`);
  }

  /** Of the values that have no note of their own. */
  function sinceNote(item) {
    const first = item.numbers.map((_, place) => item.versionAt(place)).find((each) => each?.begins === true);
    if (first === undefined) return false;
    return element(
      "p",
      { class: "note" },
      `Values without a note are as they were in ${first.run}, with which the history begins.`,
    );
  }

  function jsonPart(sent) {
    const lines = members(sent).map(
      ([name, group]) => `  ${JSON.stringify(name)}: ${JSON.stringify(group.map(sentValue))}`,
    );
    // JSON has no other ends of lines in its texts.
    const text = ["{", ...lines.map((line, index) => line + (index < lines.length - 1 ? "," : "")), "}"];
    const isCut = sent.some((answer) => has(answer, "shortened"));
    return element(
      "details",
      {},
      element("summary", {}, isCut ? "As JSON, with long texts shortened" : "As JSON"),
      element(
        "pre",
        { "data-payload": "" },
        element(
          "code",
          {},
          text.map((line) => [foreign(line), "\n"]),
        ),
      ),
    );
  }

  /** The request, file and position of what was read, with the digest; a table for all destinations, which is made when it is asked for. */
  function evidencePart({ read }) {
    const { title, none, columns, lookups } = data.evidence;
    const details = element("details", { class: "evidence" }, element("summary", {}, title));
    const table = () => {
      const rows = [...read, ...lookups].map(evidenceCells);
      const shown = columns.map((head, place) => ({ head, place }));
      const used = shown.filter(({ place }) => rows.some((cells) => cells[place] !== null));
      const head = used.map((column) => element("th", { scope: "col" }, column.head));
      const lines = rows.map((cells) => {
        const made = used.map(({ head, place }) =>
          element(place === 0 ? "th" : "td", { "data-head": head }, evidenceCell(cells[place])),
        );
        made[0].setAttribute("scope", "row");
        return element("tr", {}, made);
      });
      return element(
        "table",
        {},
        element("caption", { class: "visually-hidden" }, title),
        element("thead", {}, element("tr", {}, head)),
        element("tbody", {}, lines),
      );
    };
    details.addEventListener(
      "toggle",
      () => details.append(...(read.length === 0 ? [element("p", { class: "note" }, none)] : []), table()),
      { once: true },
    );
    return details;
  }

  /** A document has its position and the beginning of its digest beside a row that others have too. */
  function evidenceCells(packed) {
    if (typeof packed === "number") return data.evidence.rows[packed];
    const [row, position, digest] = packed;
    const given = { position, "SHA-256": `${hexadecimal(digest)}…` };
    return data.evidence.rows[row].map((cell, place) => given[data.evidence.columns[place]] ?? cell);
  }

  function hexadecimal(base64url) {
    const bytes = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
    return [...bytes].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  }

  function evidenceCell(cell) {
    if (cell === null) return "";
    return typeof cell === "number" ? count(cell) : foreign(cell);
  }

  // The address names the item that is open, so that it can be sent to somebody.

  const NAMED_ITEM = /^#item=(.*)$/;

  function setHash(hash) {
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  function openNamed() {
    const id = NAMED_ITEM.exec(location.hash)?.[1];
    if (id === undefined) {
      dialog.close();
      return;
    }
    const item = items.find((each) => encodeURIComponent(each.id) === id);
    if (item === undefined) openMissing(id);
    else open(item);
  }

  offerChoices();
  makeSortable(byId("item-table"), (column, compare) => {
    ordered = sorted(items, ITEM_KEYS[column], compare);
    search();
  });
  const form = byId("filters");
  form.hidden = false;
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  // The fields have their former values once the event is over.
  form.addEventListener("reset", () => setTimeout(search));
  byId("items-csv").addEventListener("click", saveFound);
  byId("more").addEventListener("click", () => {
    const before = shown;
    showMore();
    byId("item-rows").children[before]?.querySelector("button")?.focus();
  });
  dialog.addEventListener("close", () => {
    if (NAMED_ITEM.test(location.hash)) setHash("#items");
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  addEventListener("hashchange", openNamed);
  form.reset();
  search();
  openNamed();
})();
