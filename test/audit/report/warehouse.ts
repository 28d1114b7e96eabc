import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packagePath } from "../../../src/common/package-root.ts";
import { either } from "../../long.ts";
import { site } from "../two-nights.ts";

/** What somebody may write where a title or a name is expected. */
export const HOSTILE = {
  script: "</script><script>globalThis.harmed = 1</script>",
  image: `"><img src=x onerror="globalThis.harmed = 1">`,
  link: "javascript:globalThis.harmed=1",
  comment: "<!--<script> & <![CDATA[ ]]>",
  bidi: "Nordics\u202egnp.exe\u202c \u2066isolated\u2069",
  hidden: "no\u200bbreak\u00adhere\ufeff",
  field: `region'"><svg onload="globalThis.harmed = 1">`,
  destination: "Web <b>CMS</b> & Co",
  external: `nor<dic> "quoted" 'twice' &amp;`,
  externalName: "market</title><script>globalThis.harmed = 1</script>",
} as const;

interface Entity {
  [key: string]: unknown;
}

export interface TwoNights {
  readonly out: string;
  /** IDs of the items with hostile titles, by the name of the title. */
  readonly hostile: ReadonlyMap<string, string>;
}

/**
 * A warehouse of two nights of the sample, between which items were edited and removed, a mapping's values and name
 * changed, and hostile texts came into titles and names. Removed when the tests of the file are done.
 */
export async function twoNights(): Promise<TwoNights> {
  const { out, folder, night } = await site();
  const data = join(folder, "content");
  await cp(packagePath("data/sample"), data, { recursive: true });
  if (either(true, false)) await edit(data, "content", (items) => items.slice(0, 120));
  await night(data);
  const hostile = await changeEverything(data);
  await night(data);
  return { out, hostile };
}

/** Changes the entities of a file of a content set. */
async function edit(data: string, file: string, change: (entities: Entity[]) => Entity[] | undefined) {
  const path = join(data, `${file}.ndjson`);
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  const entities: Entity[] = lines.map((line) => JSON.parse(line));
  const edited = change(entities) ?? entities;
  await writeFile(path, edited.map((entity) => `${JSON.stringify(entity)}\n`).join(""));
}

const TITLES = ["script", "image", "link", "comment", "bidi", "hidden"] as const;

async function changeEverything(data: string): Promise<Map<string, string>> {
  const hostile = new Map<string, string>();
  const updated_at = "2026-11-20T18:00:00.000000Z";
  await edit(data, "content", (items) => {
    const kept = items.filter((_, index) => index !== 40);
    for (const [index, name] of TITLES.entries()) {
      const item = Object.assign(kept[index] ?? {}, { title: HOSTILE[name], updated_at });
      hostile.set(name, String(item.id));
    }
    for (const item of kept.slice(50, 60)) Object.assign(item, { custom_fields: {}, updated_at });
    return kept;
  });
  await edit(data, "destinations", ([web]) => {
    if (web !== undefined) web.identification = HOSTILE.destination;
    return undefined;
  });
  await edit(data, "custom_fields", (fields) => {
    const region = fields.find(({ name }) => name === "region");
    const audience = fields.find(({ name }) => name === "audience");
    if (region === undefined || audience === undefined) throw new Error("the sample has other fields");
    region.name = HOSTILE.field;
    const market = mappingOf(region);
    market.field_name = HOSTILE.externalName;
    for (const entry of market.values.slice(0, 2)) entry.value = HOSTILE.external;
    mappingOf(audience).values.pop();
    return undefined;
  });
  return hostile;
}

interface Mapping {
  field_name: string;
  values: { value: string }[];
}

function mappingOf({ mappings }: Entity): Mapping {
  const [first] = mappings as Mapping[];
  if (first === undefined) throw new Error("the field has no mapping");
  return first;
}
