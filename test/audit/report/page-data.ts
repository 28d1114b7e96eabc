/** What the data within a page say, read without the page's own script. */

export interface PageItem {
  /** By destination ID: the keys in their order, each with its values. */
  readonly payloads: ReadonlyMap<string, readonly { readonly name: string; readonly values: string[] }[]>;
  /** `destination | field | mapping | external name | status | entry | external value`, one per value. */
  readonly values: readonly string[];
}

/** Columns of the catalogue: `table.column | type | comment | origins`. */
export function pageColumns(page: string): string[] {
  const [, island = ""] =
    /id="columns-columns".*?<script type="application\/json">(.*?)<\/script>/s.exec(page) ?? [];
  const { texts, rows }: { texts: string[]; rows: number[][] } = JSON.parse(island);
  return rows.map((cells) => {
    const [column, table, type, comment, origins] = cells.map((cell) => texts[cell]);
    return [`${table}.${column}`, type, comment, origins].join(" | ");
  });
}

interface Data {
  readonly statuses: readonly string[];
  readonly flags: readonly string[];
  readonly destinations: readonly [string, ...unknown[]][];
  readonly fields: readonly [string, ...unknown[]][];
  readonly texts: readonly string[];
  readonly answers: readonly number[][];
  readonly items: readonly [string, unknown, unknown, unknown, readonly number[]][];
}

export function pageItems(page: string): Map<string, PageItem> {
  const [, island = ""] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page) ?? [];
  const data: Data = JSON.parse(island);
  return new Map(data.items.map(([id, , , , numbers]) => [id, itemOf(data, numbers)]));
}

function itemOf(data: Data, numbers: readonly number[]): PageItem {
  const payloads = new Map<string, { name: string; values: string[] }[]>();
  const values = numbers.map((number) => {
    const [destination = 0, field = 0, name, , value, mapping, entry, external, , status = 0, bits = 0] =
      data.answers[number] ?? [];
    const text = (index: number | null | undefined) => data.texts[index ?? -1] ?? "";
    const site = data.destinations[destination]?.[0] ?? "";
    if ((bits & (1 << data.flags.indexOf("sent"))) !== 0) {
      const members = payloads.get(site) ?? [];
      const sent = text(external) === "" ? text(value) : text(external);
      const last = members.at(-1);
      if (last?.name === text(name)) last.values.push(sent);
      else members.push({ name: text(name), values: [sent] });
      payloads.set(site, members);
    }
    return [
      site,
      data.fields[field]?.[0],
      text(mapping),
      text(name),
      data.statuses[status],
      text(entry),
      text(external),
    ].join(" | ");
  });
  return { payloads, values };
}
