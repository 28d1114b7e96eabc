import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { applyChanges } from "../../src/service/load.ts";
import { HISTORY } from "../run/running.ts";
import { serviceAt } from "../service-at.ts";

export interface Site {
  /** The warehouse. */
  readonly out: string;
  /** Removed when the tests of the file are done. */
  readonly folder: string;
  /** Exports a content set from a service at the address of the first. */
  exported(
    data: string,
    pipeline?: "nightly" | URL,
    flags?: { readonly acceptLost?: true },
  ): Promise<RunSummary>;
  /** The same. Answers the run's name. */
  night(data: string, pipeline?: "nightly" | URL): Promise<string>;
}

const CHANGES = packagePath("data/sample-night-2");

/** The sample, and the sample with the changes of its second night. */
export async function sampleNights(
  folder: string,
  first = packagePath("data/sample"),
): Promise<readonly [first: string, second: string]> {
  const second = join(folder, "second-night");
  await applyChanges(first, CHANGES, second);
  return [first, second];
}

/** The same of every tenth item of the sample, and of those that the second night changes. */
export async function fewSampleNights(folder: string): Promise<readonly [first: string, second: string]> {
  const few = join(folder, "few");
  await cp(packagePath("data/sample"), few, { recursive: true });
  const [content, ...changes] = await Promise.all(
    [join(few, "content.ndjson"), join(CHANGES, "content.ndjson"), join(CHANGES, "removed.ndjson")].map(
      (file) => readFile(file, "utf8"),
    ),
  );
  const lines = (content ?? "").trimEnd().split("\n");
  const kept = lines.filter(
    (line, index) => index % 10 === 0 || changes.join().includes(JSON.parse(line).id),
  );
  await writeFile(join(few, "content.ndjson"), `${kept.join("\n")}\n`);
  return sampleNights(folder, few);
}

/**
 * A warehouse of one service, whose content changes from night to night; call it outside of hooks. `settings`: of its
 * configuration, beside the destinations.
 */
export async function site(settings: Readonly<Record<string, unknown>> = {}): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), "nights-"));
  after(() => removeTree(folder));
  const out = join(folder, "warehouse");
  const config = join(folder, "content-warehouse.config.json");
  let port = 0;
  const exported: Site["exported"] = async (data, pipeline = new URL(HISTORY), flags = {}) => {
    const service = await serviceAt({ data, port });
    port = service.port;
    const { tokens, destinations } = service.contentSet;
    const [token = ""] = tokens.keys();
    const looked = destinations.map(({ identification, platform }) => ({ name: identification, platform }));
    await writeFile(config, JSON.stringify({ ...settings, destinations: looked }));
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: token };
    try {
      // Nights of one warehouse may have pipelines with fewer tables.
      const run = { pipeline, warehouse: out, cwd: folder, env, config, acceptPipeline: true, ...flags };
      return await runPipeline(run);
    } finally {
      await service.close();
    }
  };
  const night: Site["night"] = async (...given) => (await exported(...given)).run;
  return { out, folder, exported, night };
}
