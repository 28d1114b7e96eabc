/**
 * Makes a content set, the same bytes for the same items and seed; without items the sample, as it is in `data/sample`.
 *
 *     node test/generator/main.ts FOLDER [ITEMS [SEED]]
 */
import { generateContentSet, generateSampleSet } from "./generate.ts";

const [out = "content-set", items, seed = "1"] = process.argv.slice(2);
const summary =
  items === undefined
    ? await generateSampleSet({ out })
    : await generateContentSet({ items: Number(items), seed: Number(seed), out });
process.stdout.write(`${summary.items} items, ${summary.bytes} bytes in ${out}\n`);
