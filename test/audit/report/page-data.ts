/** What the data within a page say, read without the page's own script. */

export interface PageItem {
  /** By destination ID: the keys in their order, each with its values. */
  readonly payloads: ReadonlyMap<string, readonly { readonly name: string; readonly values: string[] }[]>;
  /** `destination | field | mapping | external name | status | entry | external value`, one per value. */
  readonly values: readonly string[];
  /** Of each value: number of the run since which it is so. */
  readonly since: readonly number[];
  /** What became of it since the run before; undefined: nothing. */
  readonly change: string | undefined;
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
  readonly versions: readonly [since: number, day: string, begins: boolean, causes: string][];
  readonly changes: readonly string[];
  readonly items: readonly Packed[];
}

type Packed = readonly [
  id: string,
  title: unknown,
  type: unknown,
  published: unknown,
  numbers: readonly number[],
  read: unknown,
  versions: number | readonly number[],
  change: number | null,
];

export function pageItems(page: string): Map<string, PageItem> {
  const [, island = ""] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page) ?? [];
  const data: Data = JSON.parse(island);
  return new Map(data.items.map((packed) => [packed[0], itemOf(data, packed)]));
}

function itemOf(data: Data, [, , , , numbers, , versions, change]: Packed): PageItem {
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
  const since = numbers.flatMap((_, place) => {
    const number = typeof versions === "number" ? versions : versions[place];
    return data.versions[number ?? -1]?.[0] ?? [];
  });
  return { payloads, values, since, change: data.changes[change ?? -1] };
}
