// The items of the report: search, filters, and what each destination receives. What the service sent only ever becomes
// text: no markup, no address, no code.
(() => {
  const PAGE_SIZE = 50;
  const GAPS_SHOWN = 3;
  const VALUES_OFFERED = 400;
  const [ARCHIVED, AMBIGUOUS, BY_TEXT, COLLISION, SHORTENED, SENT] = [4, 8, 16, 32, 64, 128];
  const STATUS_NAMES = {
    mapped: "mapped",
    unmapped: "unmapped",
    unknown_value: "unknown value",
    no_value_mapping: "field without value mappings",
  };
  const FLAG_NAMES = [
    [ARCHIVED, "archived"],
    [AMBIGUOUS, "ambiguous"],
    [BY_TEXT, "matched by text"],
    [COLLISION, "name of several fields"],
    [SHORTENED, "shortened here"],
  ];

  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  if (byId("filters") === null) return;

  const textOf = (number) => (number === null ? null : data.texts[number]);
  const destinations = data.destinations.map(([id, name, platform, unsupported], index) => {
    return { index, id, name, platform, unsupported };
  });
  const fields = data.fields.map(([id, name, label, type], index) => ({ index, id, name, label, type }));
  const answers = data.answers.map(
    ([destination, field, name, valueId, value, mapping, entry, external, bits]) => {
      return {
        destination: destinations[destination],
        field: fields[field],
        name: textOf(name),
        valueId: textOf(valueId),
        value: textOf(value),
        mapping: textOf(mapping),
        entry: textOf(entry),
        external: textOf(external),
        status: data.statuses[bits & 3],
        bits,
      };
    },
  );
  const items = data.items.map(([id, title, type, published, numbers]) => {
    return { id, title, type, published, numbers, search: `${title ?? ""}\n${id}`.toLowerCase() };
  });

  // Elements.

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(
      ...children.flat(Number.POSITIVE_INFINITY).filter((child) => child !== null && child !== false),
    );
    return made;
  }

  // The same as in markup.ts.
  const INVISIBLE =
    /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)\u200D(?=\p{Extended_Pictographic})|(?<=[\p{Emoji}])\uFE0F|([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800])/gu;

  function codePoint(character) {
    return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  }

  function foreign(text) {
    const made = element("bdi");
    let from = 0;
    for (const match of text.matchAll(INVISIBLE)) {
      if (match[1] === undefined) continue;
      made.append(text.slice(from, match.index), element("span", { class: "mark" }, codePoint(match[1])));
      from = match.index + match[1].length;
    }
    made.append(text.slice(from));
    return made;
  }

  function plainForeign(text) {
    return text.replace(INVISIBLE, (all, invisible) =>
      invisible === undefined ? all : `[${codePoint(invisible)}]`,
    );
  }

  function code(text) {
    return element("code", {}, foreign(text));
  }

  function named({ name, id }) {
    return name === null ? code(id) : foreign(name);
  }

  function valuePart({ value, valueId }) {
    if (value !== null) return value.trim() === "" ? element("em", {}, "empty text") : foreign(value);
    return valueId === null ? element("em", {}, "without text") : code(valueId);
  }

  const count = (number) => number.toLocaleString("en-US");
  const counted = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;

  // Filters.

  const filters = Object.fromEntries(
    ["text", "type", "destination", "field", "value", "status"].map((name) => [name, byId(`filter-${name}`)]),
  );

  function offer(select, entries) {
    for (const [value, label] of entries) select.append(element("option", { value }, plainForeign(label)));
  }

  function compare([, a], [, b]) {
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function offerChoices() {
    offer(filters.type, data.types.map((name, index) => [String(index), name]).sort(compare));
    const used = (key) => [...new Set(answers.map((answer) => answer[key]))];
    for (const key of ["destination", "field"]) {
      const entries = used(key).map(({ index, name, id }) => [String(index), name ?? id]);
      const names = entries.map(([, name]) => name);
      const isShared = (name) => names.indexOf(name) !== names.lastIndexOf(name);
      const things = key === "field" ? fields : destinations;
      const told = entries.map(([index, name]) => [
        index,
        isShared(name) ? `${name} (${things[index].id})` : name,
      ]);
      offer(filters[key], told.sort(compare));
    }
    offer(filters.status, [
      ["gap", "without external value"],
      ...data.statuses.map((status) => [status, STATUS_NAMES[status]]),
      ["archived", "archived value"],
      ["ambiguous", "ambiguous"],
    ]);
    const values = [...new Set(answers.filter(({ valueId }) => valueId !== null).map(({ value }) => value))];
    for (const value of values
      .filter((each) => each !== null)
      .sort()
      .slice(0, VALUES_OFFERED)) {
      byId("values").append(element("option", { value }));
    }
  }

  function hasStatus(answer, wanted) {
    if (wanted === "gap") return data.withoutExternalValue.includes(answer.status);
    if (wanted === "archived") return (answer.bits & ARCHIVED) !== 0;
    if (wanted === "ambiguous") return (answer.bits & AMBIGUOUS) !== 0;
    return answer.status === wanted;
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
    return answers.map(
      (answer) =>
        (destination === "" || String(answer.destination.index) === destination) &&
        (field === "" || String(answer.field.index) === field) &&
        (status === "" || hasStatus(answer, status)) &&
        (value === "" ||
          [answer.value, answer.external, answer.valueId].some((text) =>
            text?.toLowerCase().includes(value),
          )),
    );
  }

  /** In the order that the table has them. */
  let ordered = items;
  let found = items;
  let shown = 0;

  const gapsOf = (item) =>
    item.numbers
      .map((number) => answers[number])
      .filter(({ status }) => data.withoutExternalValue.includes(status));

  /** What each column of the table is sorted by; empty: last. */
  const ITEM_KEYS = [
    ({ title }) => title?.trim() ?? "",
    ({ type }) => (type === null ? "" : data.types[type]),
    ({ published }) => published ?? "",
    ({ numbers }) => numbers.length,
    (item) => gapsOf(item).length,
  ];

  function sortItems(column, compare) {
    ordered = sorted(items, ITEM_KEYS[column], compare);
    search();
  }

  function search() {
    const wanted = wantedAnswers();
    const text = filters.text.value.trim().toLowerCase();
    const type = filters.type.value;
    found = ordered.filter(
      (item) =>
        (type === "" || String(item.type) === type) &&
        (text === "" || item.search.includes(text)) &&
        (wanted === undefined || item.numbers.some((number) => wanted[number])),
    );
    shown = 0;
    byId("item-rows").replaceChildren();
    byId("item-table").hidden = found.length === 0;
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

  function foundText() {
    if (found.length === 0) return "No item in this page is like that. Clear a filter to see more.";
    const part = shown < found.length ? `, the first ${count(shown)} are shown` : "";
    return found.length === items.length
      ? `${counted(items.length, "item")}${part}.`
      : `${count(found.length)} of ${counted(items.length, "item")}${part}.`;
  }

  function titleOf({ title }) {
    return title === null || title.trim() === "" ? element("em", {}, "without title") : foreign(title);
  }

  function itemRow(item) {
    const type = item.type === null ? "" : data.types[item.type];
    const button = element("button", { type: "button", class: "title" }, titleOf(item));
    button.addEventListener("click", () => open(item));
    const gaps = gapsOf(item);
    return element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        button,
        element(
          "span",
          { class: "meta" },
          foreign(type),
          item.published === null ? "" : `, ${item.published}`,
        ),
      ),
      element("td", {}, foreign(type)),
      element("td", {}, item.published ?? element("span", { class: "none" }, "no")),
      element("td", { class: "number" }, count(item.numbers.length)),
      element("td", {}, gaps.length === 0 ? element("span", { class: "none" }, "none") : gapList(gaps)),
    );
  }

  function gapList(gaps) {
    const list = gaps
      .slice(0, GAPS_SHOWN)
      .map((gap) =>
        element(
          "li",
          {},
          valuePart(gap),
          element("span", { class: "from" }, " of ", named(gap.field), " for ", named(gap.destination)),
        ),
      );
    const more = gaps.length - list.length;
    if (more > 0) list.push(element("li", { class: "from" }, `and ${count(more)} more`));
    return element("ul", { class: "gaps" }, list);
  }

  // One item.

  const dialog = byId("item");

  function open(item) {
    const close = element("button", { type: "button" }, "Close");
    close.addEventListener("click", () => dialog.close());
    const type = item.type === null ? "no content type" : data.types[item.type];
    dialog.replaceChildren(
      element(
        "div",
        { class: "item-head" },
        element(
          "div",
          {},
          element("h2", { id: "item-title" }, titleOf(item)),
          element(
            "p",
            {},
            foreign(type),
            item.published === null ? ", not published" : `, published ${item.published}`,
            ", ",
            code(item.id),
          ),
        ),
        close,
      ),
      element(
        "div",
        { class: "item-body" },
        element(
          "div",
          { class: "destinations" },
          destinations.map((each) => destinationPart(item, each)),
        ),
        element(
          "p",
          { class: "note" },
          "Rule by rule, with the request that says so: ",
          code(`content-warehouse explain ${item.id}`),
        ),
      ),
    );
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    setHash(`#item=${encodeURIComponent(item.id)}`);
  }

  function destinationPart(item, destination) {
    const own = item.numbers
      .map((number) => answers[number])
      .filter((answer) => answer.destination === destination);
    const sent = own.filter(({ bits }) => (bits & SENT) !== 0);
    const others = own.filter(({ bits }) => (bits & SENT) === 0);
    return element(
      "section",
      { class: "destination" },
      element("h3", {}, named(destination)),
      destination.unsupported &&
        element("p", { class: "note" }, "The service says that this destination supports no mappings."),
      sent.length === 0
        ? element("p", { class: "note" }, "Receives nothing of this item’s custom fields.")
        : [payloadList(sent), jsonPart(sent)],
      others.length > 0 && [
        element("h4", {}, "Not sent"),
        element("dl", { class: "payload" }, others.map(unsentPart)),
      ],
    );
  }

  function grouped(sent) {
    const keys = new Map();
    for (const answer of sent) keys.set(answer.name, [...(keys.get(answer.name) ?? []), answer]);
    return [...keys];
  }

  const sentValue = ({ status, external, value }) => (status === "mapped" ? external : value);

  function payloadList(sent) {
    return element(
      "dl",
      { class: "payload" },
      grouped(sent).map(([name, group]) => [
        element("dt", {}, code(name)),
        group.map((answer) =>
          element("dd", {}, element("span", { class: "sent" }, foreign(sentValue(answer))), whence(answer)),
        ),
      ]),
    );
  }

  function whence(answer) {
    const flags = FLAG_NAMES.filter(([bit]) => (answer.bits & bit) !== 0);
    return [
      element(
        "span",
        { class: "whence" },
        answer.status === "mapped" ? "mapped from " : "sent as is (no value mapping), from ",
        named(answer.field),
        answer.status === "mapped" && [": ", valuePart(answer)],
        flags.map(([, name]) => [" ", element("span", { class: "tag" }, name)]),
      ),
      idsPart(answer),
    ];
  }

  function idsPart({ valueId, mapping, entry }) {
    const ids = [
      ["value", valueId],
      ["mapping", mapping],
      ["entry", entry],
    ].filter(([, id]) => id !== null);
    return element(
      "span",
      { class: "ids" },
      ids.map(([what, id]) => element("span", { class: "id" }, `${what} `, code(id))),
    );
  }

  function unsentPart(answer) {
    const flags = FLAG_NAMES.filter(([bit]) => (answer.bits & bit) !== 0);
    return [
      element("dt", {}, named(answer.field)),
      element(
        "dd",
        {},
        element("span", { class: "sent" }, valuePart(answer)),
        flags.map(([, name]) => [" ", element("span", { class: "tag" }, name)]),
        element("span", { class: "whence" }, reasonOf(answer)),
        idsPart(answer),
      ),
    ];
  }

  function reasonOf({ status, name, external }) {
    if (status === "unmapped") return "Unmapped: the mapping has no entry for this value.";
    if (status === "unknown_value") return "Unknown value: the field offers no such value.";
    if (name === null) return "Mapped, but the mapping names no field at the destination.";
    if (status === "mapped" && external === null) return "Mapped, but the entry has no external value.";
    return "Not sent: the field has no value mapping, and this pipeline sends no values as they are.";
  }

  function jsonPart(sent) {
    const members = grouped(sent).map(([name, group]) => {
      return `  ${JSON.stringify(name)}: ${JSON.stringify(group.map(sentValue))}`;
    });
    const isCut = sent.some(({ bits }) => (bits & SHORTENED) !== 0);
    return element(
      "details",
      {},
      element("summary", {}, isCut ? "As JSON, with long texts shortened" : "As JSON"),
      element(
        "pre",
        { tabindex: "0", "data-payload": "" },
        element("code", {}, foreignLines(`{\n${members.join(",\n")}\n}`)),
      ),
    );
  }

  /** Lines that were made here; JSON has no other ends of lines in its texts. */
  function foreignLines(text) {
    return text.split("\n").flatMap((line, index) => [index === 0 ? "" : "\n", foreign(line)]);
  }

  // The address names the item that is open, so that it can be sent to somebody.

  function setHash(hash) {
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  function openNamed() {
    const id = /^#item=(.*)$/.exec(location.hash)?.[1];
    const item = id === undefined ? undefined : items.find((each) => encodeURIComponent(each.id) === id);
    if (item !== undefined) open(item);
  }

  offerChoices();
  makeSortable(document.querySelector("#item-table table"), sortItems);
  const form = byId("filters");
  form.hidden = false;
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  // The fields have their former values once the event is over.
  form.addEventListener("reset", () => setTimeout(search));
  byId("more").addEventListener("click", () => {
    const rows = byId("item-rows");
    const before = rows.children.length;
    showMore();
    rows.children[before]?.querySelector("button")?.focus();
  });
  dialog.addEventListener("close", () => setHash("#items"));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  addEventListener("hashchange", openNamed);
  form.reset();
  search();
  openNamed();
})();
