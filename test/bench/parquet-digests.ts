/**
 * SHA-256 of the Parquet files of the data tables, for the sample or a generated set, at a service whose time stands still:
 * what must stay the same when only the way to it changes.
 *
 *     node test/bench/parquet-digests.ts [ITEMS]
 */
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { createService, runPipeline } from "../../src/index.ts";
import { isAboutTheRun } from "../../src/tables/all.ts";
import { HISTORY_TABLES } from "../../src/tables/history.ts";
import { generateContentSet } from "../generator/generate.ts";

const items = Number(process.argv[2] ?? 0);
const folder = await mkdtemp(join(tmpdir(), "parquet-digests-"));
try {
  const data = items === 0 ? packagePath("data/sample") : join(folder, "set");
  if (items > 0) await generateContentSet({ items, seed: 1, out: data });
  const out = join(folder, "warehouse");
  await exportOf(data, out);
  const lines = await digestsIn(join(out, "current", "parquet"));
  process.stdout.write(`${lines.join("\n")}\n${sha256(lines.join("\n"))}  all ${lines.length} tables\n`);
} finally {
  await removeTree(folder);
}

async function exportOf(data: string, out: string): Promise<void> {
  const service = await createService({ data, now: () => Date.UTC(2026, 10, 20, 2) });
  try {
    const [token] = service.contentSet.tokens.keys();
    const env = { CONTENT_API_TOKEN: token };
    await runPipeline({ pipeline: "nightly", url: service.url, warehouse: out, env });
  } finally {
    await service.close();
  }
}

async function digestsIn(parquet: string): Promise<string[]> {
  const history = new Set(HISTORY_TABLES.map(({ name }) => name));
  const tables = (await readdir(parquet)).filter((table) => !isAboutTheRun(table) && !history.has(table));
  return Promise.all(
    tables.sort().map(async (table) => {
      const files = (await readdir(join(parquet, table))).sort();
      const bytes = await Promise.all(files.map((file) => readFile(join(parquet, table, file))));
      return `${sha256(Buffer.concat(bytes))}  ${table}`;
    }),
  );
}

function sha256(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}
