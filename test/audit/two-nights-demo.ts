/**
 * `npm run demo:two-nights`: exports the sample, lets a night of changes pass, exports it again into the same
 * warehouse, and names the commands to go on with. The folder (`./two-nights`, or the first argument) is made anew each
 * time. The service is at port 8642, or the second argument.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { applyChanges } from "../../src/service/load.ts";
import { createService } from "../../src/service/service.ts";

const [folder = "two-nights", givenPort = "8642"] = process.argv.slice(2);
const out = resolve(folder);
const port = Number(givenPort);
await makeAnew(out);
const work = await mkdtemp(join(tmpdir(), "sample-night-2-"));
const changed = join(work, "second-night");
try {
  await night(packagePath("data/sample"));
  await applyChanges(packagePath("data/sample"), packagePath("data/sample-night-2"), changed);
  await night(changed);
} finally {
  await rm(work, { recursive: true, force: true });
}
process.stdout.write(`\n${nextCommands()}`);

function nextCommands(): string {
  const question = (words: string) => `  npx content-warehouse ${words} --warehouse ${folder}\n`;
  return [
    "Go on with\n",
    question("diff"),
    question("explain fellgate-mid"),
    question("audit"),
    question('sql "FROM mapped_value_changes(1, 2)"'),
    question("report"),
    "\nTo serve the second night again, at the address of the runs:\n",
    `  npx content-warehouse serve --night 2 --port ${port}\n`,
  ].join("");
}

/** Only a folder that an earlier demo made is removed. */
async function makeAnew(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  if (!existsSync(join(folder, "runs")))
    throw new Error(`${folder} is no warehouse; name a folder that may be made anew.`);
  await removeTree(folder);
}

/** One night, from a service at the address of the others. */
async function night(data: string): Promise<void> {
  const service = await createService({ data, port });
  try {
    const { contentSet } = service;
    const [token = ""] = contentSet.tokens.keys();
    const destinations = contentSet.destinations.map(({ identification, platform }) => ({
      name: identification,
      platform,
    }));
    const config = join(work, "config.json");
    await writeFile(config, JSON.stringify({ destinations }));
    const env = { ...process.env, CONTENT_API_URL: service.url, CONTENT_API_TOKEN: token };
    const summary = await runPipeline({ pipeline: "nightly", warehouse: out, env, cwd: work, config });
    process.stdout.write(`${summary.run}: ${summary.verdict}, ${summary.items.loaded} items\n`);
  } finally {
    await service.close();
  }
}
