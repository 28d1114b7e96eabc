import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { packagePath } from "../../../src/common/package-root.ts";
import { removeTree } from "../../../src/common/tree.ts";
import { runPipeline } from "../../../src/run/run-pipeline.ts";
import { either } from "../../long.ts";
import { HISTORY } from "../../run/running.ts";
import { serviceAt } from "../../service-at.ts";

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

/** A content set, entity by entity of its files. */
class Edited {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async edit(file: string, change: (entities: Entity[]) => Entity[] | undefined): Promise<void> {
    const path = join(this.folder, `${file}.ndjson`);
    const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
    const entities: Entity[] = lines.map((line) => JSON.parse(line));
    const edited = change(entities) ?? entities;
    await writeFile(path, edited.map((entity) => `${JSON.stringify(entity)}\n`).join(""));
  }
}

export interface TwoNights {
  readonly out: string;
  /** Of both nights. */
  readonly runs: readonly string[];
  /** IDs of the items with hostile titles, by the name of the title. */
  readonly hostile: ReadonlyMap<string, string>;
}

/** One of them has another name in the second night. */
const destinationsNamed = (first: string) => [
  { name: first },
  { name: "Partner Portal" },
  { name: "Print Archive", platform: "Archive" },
];

const TITLES = ["script", "image", "link", "comment", "bidi", "hidden"] as const;

/**
 * A warehouse of two nights of the sample, between which items were edited and removed, a mapping's values and name
 * changed, and hostile texts came into titles and names. Removed when the tests of the file are done.
 */
export async function twoNights(): Promise<TwoNights> {
  const folder = await mkdtemp(join(tmpdir(), "report-"));
  after(() => removeTree(folder));
  const data = join(folder, "content");
  await cp(packagePath("data/sample"), data, { recursive: true });
  if (either(true, false)) await new Edited(data).edit("content", (items) => items.slice(0, 120));
  const out = join(folder, "warehouse");
  const configure = (name: string) =>
    writeFile(
      join(folder, "content-warehouse.config.json"),
      JSON.stringify({ destinations: destinationsNamed(name) }),
    );
  await configure("Web CMS");
  const first = await night({ data, out, cwd: folder, port: 0 });
  const hostile = await changeEverything(new Edited(data));
  await configure(HOSTILE.destination);
  const second = await night({ data, out, cwd: folder, port: first.port });
  return { out, runs: [first.run, second.run], hostile };
}

async function changeEverything(set: Edited): Promise<Map<string, string>> {
  const hostile = new Map<string, string>();
  await set.edit("content", (items) => {
    const kept = items.filter((_, index) => index !== 40);
    for (const [index, name] of TITLES.entries()) {
      const item = kept[index];
      if (item === undefined) continue;
      item.title = HOSTILE[name];
      item.updated_at = "2026-11-20T18:00:00.000000Z";
      hostile.set(name, String(item.id));
    }
    for (const item of kept.slice(50, 60)) {
      item.custom_fields = {};
      item.updated_at = "2026-11-20T18:00:00.000000Z";
    }
    return kept;
  });
  await set.edit("destinations", ([web]) => {
    if (web !== undefined) web.identification = HOSTILE.destination;
    return undefined;
  });
  await set.edit("custom_fields", (fields) => {
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

interface Night {
  readonly data: string;
  readonly out: string;
  readonly cwd: string;
  /** The same service is at the same address. */
  readonly port: number;
}

async function night({ data, out, cwd, port }: Night): Promise<{ run: string; port: number }> {
  const service = await serviceAt({ data, port });
  try {
    const [token = ""] = service.contentSet.tokens.keys();
    const { run, warnings } = await runPipeline({
      pipeline: new URL(HISTORY),
      url: service.url,
      warehouse: out,
      cwd,
      env: { CONTENT_API_TOKEN: token },
    });
    for (const warning of warnings) if (warning.includes("report")) throw new Error(warning);
    return { run, port: service.port };
  } finally {
    await service.close();
  }
}
