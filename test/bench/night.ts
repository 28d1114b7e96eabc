/** One night of `nights.ts`, in a process of its own: prints what it cost. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { keepHeapsSmall } from "../../src/cli/v8-flags.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { type Measured, measured } from "./measured.ts";

/** As JSON in the first argument. */
export interface Night {
  /** Has the warehouse. */
  readonly folder: string;
  readonly url: string;
  readonly token: string;
  readonly details: string;
  readonly rereadDays: number;
}

export interface NightReport extends Measured {
  readonly directory: string;
  readonly requests: number;
  readonly reused: number;
}

const [, , argument = ""] = process.argv;

async function report(): Promise<NightReport> {
  const { folder, url, token, details, rereadDays }: Night = JSON.parse(argument);
  keepHeapsSmall();
  const config = join(folder, "content-warehouse.config.json");
  await writeFile(config, JSON.stringify({ details, rereadDays, keepRuns: 3 }));
  const env = { CONTENT_API_URL: url, CONTENT_API_TOKEN: token };
  const warehouse = join(folder, "warehouse");
  const summary = await runPipeline({ pipeline: "nightly", warehouse, cwd: folder, env, config });
  const { directory, requests, reused } = summary;
  return { directory, requests, reused: reused?.count ?? 0, ...measured() };
}

process.stdout.write(JSON.stringify(await report()));
