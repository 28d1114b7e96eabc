/**
 * Makes a content set from the sample, the same bytes for the same items and seed.
 *
 *     node test/generator/main.ts FOLDER ITEMS [SEED]
 */
import { generateContentSet } from "./generate.ts";

const [out = "content-set", items, seed = "1"] = process.argv.slice(2);
await generateContentSet({ items: Number(items), seed: Number(seed), out });
