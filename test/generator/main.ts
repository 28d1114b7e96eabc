/**
 * Makes a content set, the same bytes for the same items and seed; without items the sample, as it is in `data/sample`.
 *
 *     node test/generator/main.ts FOLDER [ITEMS [SEED]]
 */
import { generateContentSet, generateSampleSet } from "./generate.ts";

const [out = "content-set", items, seed = "1"] = process.argv.slice(2);
if (items === undefined) await generateSampleSet(out);
else await generateContentSet({ items: Number(items), seed: Number(seed), out });
