/** Three instances over two nights: published runs, for lakes to get. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applyChanges } from "../../src/service/load.ts";
import { type LakeOptions, lake } from "../../src/targets/lake/lake.ts";
import { readDeliveredRun } from "../../src/targets/published-run.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { findRun, type PublishedRun } from "../../src/warehouse/retention.ts";
import { type Site, sampleNights, site } from "../audit/two-nights.ts";
import { generateContentSet } from "../generator/generate.ts";

export const INSTANCES = ["north", "south", "west"] as const;
export const NIGHTS = [1, 2] as const;
/** Of one instance. */
export interface LakeNight {
  readonly instance: (typeof INSTANCES)[number];
  readonly night: (typeof NIGHTS)[number];
  readonly run: PublishedRun;
}

/** In the order in which they are to be delivered. Call it outside of hooks. */
export async function makeNights(): Promise<readonly LakeNight[]> {
  const runs = await Promise.all(INSTANCES.map(runsOf));
  return NIGHTS.flatMap((night) =>
    INSTANCES.flatMap((instance, place) => {
      const run = runs[place]?.[night - 1];
      return run === undefined ? [] : [{ instance, night, run }];
    }),
  );
}

/** One instance is the sample, one has odd values besides. */
async function runsOf(instance: LakeNight["instance"]): Promise<readonly PublishedRun[]> {
  const place = await site();
  const isSample = instance === "north";
  const pipeline = instance === "south" ? new URL("./odd-pipeline.ts", import.meta.url) : "nightly";
  const sets = isSample ? await sampleNights(place.folder) : await madeNights(place, instance);
  for (const set of sets) await place.night(set, pipeline);
  const folder = outputFolder(place.out);
  return await Promise.all(NIGHTS.map((night) => findRun(folder, String(night))));
}

/** A small content set, and without two of its items. */
async function madeNights({ folder }: Site, instance: LakeNight["instance"]): Promise<readonly string[]> {
  const [first, changes, second] = ["night-1", "changes", "night-2"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await generateContentSet({ items: 60, seed: INSTANCES.indexOf(instance), out: first });
  const items = (await readFile(join(first, "content.ndjson"), "utf8")).split("\n").slice(10, 12);
  const removed = items.map((line) => JSON.stringify({ file: "content.ndjson", id: JSON.parse(line).id }));
  await mkdir(changes);
  await writeFile(join(changes, "removed.ndjson"), removed.join("\n"));
  await applyChanges(first, changes, second);
  return [first, second];
}

export async function deliver(
  { instance, run }: LakeNight,
  to: Omit<LakeOptions, "instance">,
): Promise<void> {
  const signal = new AbortController().signal;
  const temporaryDirectory = join(run.directory, "../../..");
  const delivered = await readDeliveredRun(run, {
    runs: [],
    temporaryDirectory,
    signal,
    onProgress: () => {},
  });
  const staged = await lake({ ...to, instance }).stage(delivered);
  await staged.commit();
}
