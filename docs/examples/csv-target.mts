/**
 * A target of your own: each run as a folder of CSV files, and a link `current` that names the last one.
 *
 *     CSV_FOLDER=/srv/csv npx content-warehouse run nightly --sample --config ./docs/examples/csv-target.mts
 *
 * `stage` writes where nobody looks, `commit` makes it visible in one step, and `last` says what is visible: so a
 * delivery can be repeated by anybody, after any failure. Old runs stay: remove them when nobody reads them any more.
 */
import { createWriteStream } from "node:fs";
import { mkdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Cell, defineConfig, type LoadTable, type Target } from "content-warehouse";

export function csvFolder(folder: string): Target {
  return {
    name: "csv",
    async last(instance) {
      const run = await readlink(join(folder, "current")).catch(() => null);
      if (run === null) return null;
      const owner = await readFile(join(folder, run, "instance.txt"), "utf8");
      if (instance !== null && owner !== (instance.id ?? instance.origin))
        throw new Error(`${folder} has the runs of ${owner}: set another CSV_FOLDER`);
      return { run, sequence: Number(run.split("-")[0]) };
    },
    async stage({ run, tables, instance, signal }) {
      const staged = join(folder, `.new-${run}`);
      await rm(staged, { recursive: true, force: true }); // A delivery that was killed has left it.
      await mkdir(staged, { recursive: true });
      await writeFile(join(staged, "instance.txt"), instance.id ?? instance.origin);
      for (const each of tables) {
        const file = createWriteStream(join(staged, `${each.table.name}.csv`));
        await pipeline(Readable.from(linesOf(each)), file, { signal });
      }
      const commit = async () => {
        await rm(join(folder, run), { recursive: true, force: true });
        await rename(staged, join(folder, run));
        await rm(join(folder, ".current"), { force: true });
        await symlink(run, join(folder, ".current"));
        await rename(join(folder, ".current"), join(folder, "current"));
      };
      return { commit, abort: () => rm(staged, { recursive: true, force: true }) };
    },
  };
}

async function* linesOf({ table, cells }: LoadTable): AsyncGenerator<string> {
  yield `${table.columns.map(({ name }) => name).join(",")}\n`;
  for await (const row of cells()) yield `${row.map(field).join(",")}\n`;
}

/** NULL is nothing, the empty text two quotes. */
function field(cell: Cell): string {
  return typeof cell === "string" ? `"${cell.replaceAll('"', '""')}"` : String(cell ?? "");
}

export default defineConfig({ targets: [csvFolder(process.env.CSV_FOLDER ?? "csv")] });
