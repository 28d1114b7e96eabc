/** What the data within a page say, read without the page's own script. */
import { gunzipSync } from "node:zlib";

interface Value {
  readonly destination_id: string;
  readonly custom_field_id: string;
  readonly external_field_name: string | null;
  readonly mapping_id: string;
  readonly mapping_value_id: string | null;
  readonly external_value: string | null;
  readonly status: string;
  readonly sent: string | null;
  readonly since: number | null;
}

interface Item {
  readonly id: string;
  readonly title: string | null;
  readonly values: Value[];
}

export interface PageItem {
  readonly title: string | null;
  /** By destination ID: the keys in their order, each with its values. */
  readonly payloads: ReadonlyMap<string, readonly { readonly name: string; readonly values: string[] }[]>;
  /** `destination | field | mapping | external name | status | entry | external value`, one per value. */
  readonly values: readonly string[];
  /** Of each value: number of the run since which it is so. */
  readonly since: readonly (number | null)[];
}

export function pageItems(page: string): Map<string, PageItem> {
  const [, packed = ""] =
    /<script type="text\/plain" id="data">([A-Za-z0-9+/=\n]*)<\/script>/.exec(page) ?? [];
  return new Map(packedItems(packed.split("\n")).map((item) => [item.id, itemOf(item)]));
}

/** Blocks of items stand before those of their values, which name the index of their item. */
function packedItems(blocks: readonly string[]): Item[] {
  const items: Item[] = [];
  for (const row of blocks.flatMap((block) =>
    JSON.parse(gunzipSync(Buffer.from(block, "base64")).toString()),
  )) {
    if (row.item === undefined) items.push({ ...row, values: [] });
    else items[row.item]?.values.push(row);
  }
  return items;
}

function itemOf({ title, values }: Item): PageItem {
  const payloads = new Map<string, { name: string; values: string[] }[]>();
  for (const { destination_id: site, external_field_name, sent } of values) {
    if (sent === null) continue;
    const members = payloads.get(site) ?? [];
    const name = external_field_name ?? "";
    const last = members.at(-1);
    if (last?.name === name) last.values.push(sent);
    else members.push({ name, values: [sent] });
    payloads.set(site, members);
  }
  return {
    title,
    payloads,
    values: values.map((value) =>
      [
        value.destination_id,
        value.custom_field_id,
        value.mapping_id,
        value.external_field_name,
        value.status,
        value.mapping_value_id,
        value.external_value,
      ].join(" | "),
    ),
    since: values.map(({ since }) => since),
  };
}
