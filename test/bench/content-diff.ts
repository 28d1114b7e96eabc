/**
 * What `diff --content` costs: two nights of which one item in fifty was edited and every item has a URL that was signed
 * anew, each in a process of its own, and so is the comparison, whose memory counts.
 */
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { STANDARD } from "./cases.ts";
import type { ContentDiffTook } from "./content-diff-step.ts";
import { writeTemplate } from "./content-set.ts";
import { run, serving } from "./programs.ts";

const BODY_BYTES = 13_000;
const EDITED = 50;
/** Megabytes that a comparison may take. */
const LIMIT_MB = 512;

export interface ContentDiffBench {
  readonly items: number;
  /** Where it works. */
  readonly folder: string;
}

export async function benchContentDiff({ items, folder }: ContentDiffBench) {
  const { templates } = STANDARD;
  if (items % templates !== 0)
    throw new Error(`--items is ${items}; in this case give a multiple of ${templates}.`);
  const [before, after] = [join(folder, "before"), join(folder, "after")];
  await writeTemplate({ out: before, items: templates, bodyBytes: BODY_BYTES });
  await rewrite(before, (item) => signed(item, "one"));
  await cp(before, after, { recursive: true });
  await rewrite(after, (item, place) => signed(place % EDITED === 0 ? edited(item) : item, "two"));
  const warehouse = join(folder, "warehouse");
  const port = await night({ template: before, items, warehouse, port: 0 });
  await night({ template: after, items, warehouse, port });
  const took = await run<ContentDiffTook>({ script: "content-diff-step.ts", args: [warehouse] });
  const { seconds, cpuSeconds, peakMemoryMb, changedItems } = took;
  return {
    case: "content-diff",
    items,
    changedItems,
    seconds: Number(seconds.toFixed(2)),
    cpuSeconds: Number(cpuSeconds.toFixed(2)),
    peakMemoryMb: Math.round(peakMemoryMb),
    limitMb: LIMIT_MB,
    correct: changedItems === items / EDITED && peakMemoryMb < LIMIT_MB,
  };
}

interface Night {
  readonly template: string;
  readonly items: number;
  readonly warehouse: string;
  /** Of the service; 0: any. */
  readonly port: number;
}

/** The port that the service had: the same warehouse takes no other address. */
async function night({ template, items, warehouse, port }: Night): Promise<number> {
  const config = `${template}.json`;
  await writeFile(config, JSON.stringify({ perPage: STANDARD.perPage }));
  const settings = JSON.stringify({ template, items, port });
  return serving<{ url: string; token: string }, number>(
    { script: "service.ts", args: [settings] },
    async ({ url, token }) => {
      const env = { CONTENT_API_URL: url, CONTENT_API_TOKEN: token };
      await run({ script: "export.ts", args: [warehouse, config], env });
      return Number(new URL(url).port);
    },
  );
}

type Item = Readonly<Record<string, unknown>>;

const signed = (item: Item, signature: string): Item => {
  return {
    ...item,
    thumbnail_url: `https://images.example/x.png?X-Amz-Signature=${signature}&X-Amz-Date=1`,
  };
};

const edited = (item: Item): Item => {
  return { ...item, title: "Another title", updated_at: "2026-11-01T08:00:00.000000Z" };
};

async function rewrite(folder: string, change: (item: Item, place: number) => Item): Promise<void> {
  const file = join(folder, "content.ndjson");
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  await writeFile(
    file,
    lines.map((line, place) => `${JSON.stringify(change(JSON.parse(line), place))}\n`).join(""),
  );
}
