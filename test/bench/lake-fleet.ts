/** Instances that are run and delivered to a lake by 1, 2 and 4 workers: a plain loop of processes each. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { inParallel } from "../../src/storage/parallel.ts";
import { writeTemplate } from "./content-set.ts";
import { serving } from "./programs.ts";
import type { ServiceSettings } from "./service.ts";

const INSTANCES = 40;
const ITEMS = 500;
const WORKERS = [1, 2, 4];
/** A service that answers at once leaves the processor to the runs; one that takes its time is what there is. */
const DELAYS_MS = [0, 200];

const run = promisify(execFile);

export async function benchFleet(folder: string, instances = INSTANCES): Promise<object> {
  const template = join(folder, "template");
  await writeTemplate({ out: template, items: ITEMS, bodyBytes: undefined });
  const rounds: object[] = [];
  for (const delayMs of DELAYS_MS) {
    const settings: ServiceSettings = {
      template,
      items: ITEMS,
      order: "created",
      delayMs,
      perSecond: null,
      port: 0,
    };
    const service = { script: "service.ts", args: [JSON.stringify(settings)] };
    const seconds = await serving(service, async (address: Address) => {
      // Documents are rendered when they are asked for first.
      await secondsOf({ place: join(folder, `warm-${delayMs}`), instances: 1, workers: 1, address });
      const measured: Record<number, number> = {};
      for (const workers of WORKERS) {
        const place = join(folder, `with-${delayMs}-${workers}`);
        measured[workers] = await secondsOf({ place, instances, workers, address });
        process.stderr.write(`${delayMs} ms, ${workers} workers: ${measured[workers]} s\n`);
        await removeTree(place);
      }
      return measured;
    });
    rounds.push({ delayMs, secondsByWorkers: seconds });
  }
  return { instances, items: ITEMS, rounds };
}

interface Address {
  readonly url: string;
  readonly token: string;
}

interface Round {
  readonly place: string;
  readonly instances: number;
  readonly workers: number;
  readonly address: Address;
}

async function secondsOf({ place, instances, workers, address }: Round): Promise<number> {
  const names = Array.from({ length: instances }, (_, at) => `instance-${at}`);
  const lanes = Array.from({ length: workers }, (_, lane) => lane);
  const from = performance.now();
  await inParallel(lanes, names, async (_, name) => {
    const config = `${place}-${name}.json`;
    const targets = [{ type: "lake", url: pathToFileURL(join(place, "lake")).href, instance: name }];
    await writeFile(config, JSON.stringify({ targets }));
    const out = join(place, name);
    const args = [
      packagePath("dist/src/cli/main.js"),
      "run",
      "nightly",
      "--warehouse",
      out,
      "--config",
      config,
      "--json",
    ];
    const env = { PATH: process.env.PATH, CONTENT_API_URL: address.url, CONTENT_API_TOKEN: address.token };
    await run(process.execPath, args, { env, maxBuffer: 2 ** 26 });
  });
  return Number(((performance.now() - from) / 1000).toFixed(1));
}
