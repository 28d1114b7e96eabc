/** Destinations that are added to a configuration that is there: the rest of its text stays as it is. */
import { readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { codeOf, WarehouseError } from "../../common/errors.ts";
import { listed } from "../../common/nearest.ts";
import { readConfigFile } from "../../config/config-file.ts";
import { valueAt } from "../../config/form-faults.ts";
import { type Destinations, invalid } from "../command.ts";

/** A list as `init` writes it: JSON on lines of its own, that ends where the setting begins. */
const LIST = /^( *)("?)destinations\2: (\[\]|\[\n[\s\S]*?\n\1\])(?=,?$)/gm;

/** Those of `wanted` that the configuration does not have yet, each once. */
export function newDestinations(wanted: Destinations, there: Destinations): Destinations {
  const keyOf = ({ name, platform }: Destinations[number]) => JSON.stringify([name, platform]);
  const known = new Set(there.map(keyOf));
  return [...new Map(wanted.map((one) => [keyOf(one), one]))].flatMap(([key, one]) =>
    known.has(key) ? [] : [one],
  );
}

/**
 * Writes them into the list of the file, which is exchanged at once, and only for one that is read as intended. Throws
 * `config.invalid`, with what to write by hand, where the list is not as `init` writes it; `config.output`.
 */
export async function addDestinations(cwd: string, name: string, added: Destinations): Promise<void> {
  const path = await realpath(resolve(cwd, name));
  const text = await readFile(path, "utf8");
  const before = await destinationsIn(path);
  const [list, ...others] = [...text.matchAll(LIST)];
  const byHand = () =>
    invalid(
      `${name} does not have its \`destinations\` as init writes them, so init leaves it as it is; add ${listed(
        added.map((one) => JSON.stringify(one)),
        "and",
      )} by hand.`,
    );
  if (list === undefined || others.length > 0) throw byHand();
  const [all, indent = "", , json = ""] = list;
  if (!Array.isArray(before)) throw byHand();
  const after: readonly unknown[] = [...before, ...added];
  const written = JSON.stringify(after, null, 2).replaceAll("\n", `\n${indent}`);
  const head = text.slice(0, list.index + all.length - json.length);
  const next = `${head}${written}${text.slice(list.index + all.length)}`;
  // A file of the same folder and extension is read as this one is.
  const beside = join(dirname(path), `.init-${process.pid}${extname(path)}`);
  try {
    await writeFile(beside, next, { mode: (await stat(path)).mode, flag: "wx" });
    if (!isDeepStrictEqual(await destinationsIn(beside), after)) throw byHand();
    await rename(beside, path);
  } catch (thrown) {
    if (thrown instanceof WarehouseError) throw thrown;
    throw new WarehouseError(
      "config.output",
      `${name} cannot be written (${codeOf(thrown) ?? "unknown reason"}); look at the rights of its folder.`,
      { cause: thrown },
    );
  } finally {
    await rm(beside, { force: true });
  }
}

async function destinationsIn(path: string): Promise<unknown> {
  return valueAt((await readConfigFile(dirname(path), path))?.value, ["destinations"]);
}
