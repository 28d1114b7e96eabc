import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { InvalidArgumentError, Option } from "commander";
import pino from "pino";
import { findReadable } from "../../audit/open-run.ts";
import { packagePath } from "../../common/package-root.ts";
import { applyChanges } from "../../service/changes.ts";
import { type KeptRun, keptContent } from "../../service/kept.ts";
import type { RateLimitSpec, RatePeriod } from "../../service/rate-limit.ts";
import {
  createService,
  type ServiceOptions,
  type Serving,
  type ServingOptions,
  serve,
} from "../../service/service.ts";
import { writeAnswer } from "../../show/terminal.ts";
import {
  CliCommand,
  type CliEnvironment,
  existingFolder,
  invalid,
  processEnvironment,
  StopSignals,
} from "../command.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";

interface Options extends ServiceOptions {
  readonly data: string;
  /** Of the sample: the first, or what became of it a night later. */
  readonly night: 1 | 2;
  /** In place of a content set. */
  readonly warehouse?: string;
  readonly run?: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse serve
  $ content-warehouse serve --data ./content-set --port 8080 --max-per-page 50
  $ content-warehouse serve --night 2             the sample a night later, to see what changed
  $ content-warehouse serve --repeat 20           10,000 items of the sample's 500
  $ content-warehouse serve --rate-limit 5        a client meets 429 and Retry-After
  $ content-warehouse serve --rate-limit 5000/hour --latency 300
  $ content-warehouse serve --warehouse ./warehouse --run 42

With --warehouse it serves what a run kept, as received and after the personal-data policy: an integration is tested
against last night's content, and a mistake looked into without the service. The token is that of CONTENT_API_TOKEN,
else a new one, which is printed.
`;

export function serveCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("serve")
    .description("serve a content set, or what a run kept, as the service would")
    .addOption(
      new Option("--data <dir>", "folder of the content set").default(
        packagePath("data/sample"),
        "the sample content set",
      ),
    )
    .addOption(
      new Option("--night <n>", "night of the sample: 2 has what a night of work changes in it")
        .argParser(wholeNumber(1, 2))
        .default(1)
        .conflicts("data"),
    )
    .addOption(
      new Option("--repeat <n>", "serve the set so many times, under new IDs, slugs and times")
        .argParser(wholeNumber(1, 100_000))
        .default(1),
    )
    .addOption(
      new Option("--warehouse <dir>", "serve what a run in this warehouse kept").conflicts([
        "data",
        "night",
        "repeat",
      ]),
    )
    .option("--run <run>", "name or number of the run, or current (default: current)")
    .option("--port <n>", "port to listen on; 0 takes any free one", wholeNumber(0, 65_535), 8080)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--max-per-page <n>", "largest page", wholeNumber(1), 100)
    .option(
      "--rate-limit <n>",
      "requests a second for each token, or <n>/minute, <n>/hour; more are refused with 429 and Retry-After",
      rateLimit,
    )
    .option(
      "--max-concurrent <n>",
      "requests at the same time for each token; more are refused with 429",
      wholeNumber(1),
    )
    .option("--latency <ms>", "milliseconds for which every answer is held back", wholeNumber(0, 600_000), 0)
    .addHelpText("after", EXAMPLES)
    .action((options: Options) => serveUntilStopped(options, environment));
}

async function serveUntilStopped(options: Options, environment: CliEnvironment): Promise<void> {
  if (options.night === 1) return serveFolder(options, environment);
  await inTemporaryFolder("serve", async (data) => {
    await applyChanges(options.data, packagePath("data/sample-night-2"), data);
    await serveFolder({ ...options, data }, environment);
  });
}

async function serveFolder(options: Options, environment: CliEnvironment): Promise<void> {
  const { warehouse, run } = options;
  if (warehouse === undefined && run !== undefined)
    throw invalid("--run names a run of a warehouse; give its folder with --warehouse, or leave --run out.");
  const logger = pino({ level: "error" }, pino.destination({ fd: 2, sync: true }));
  const serving = { ...options, logger };
  const { service, text } =
    warehouse === undefined
      ? await serveSet(serving)
      : await serveKept(serving, await keptRun(warehouse, run, environment), environment.env);
  using stop = new StopSignals("the service is closed");
  try {
    await writeAnswer(environment.out, `${text}\n`);
    if (!stop.signal.aborted) await once(stop.signal, "abort");
  } finally {
    await service.close();
  }
}

interface Started {
  readonly service: Serving;
  readonly text: string;
}

async function serveSet(options: Options): Promise<Started> {
  const service = await createService(options);
  const { outline, instance, tokens } = service.contentSet;
  const [token = "TOKEN"] = tokens.keys();
  const from = options.night === 1 ? options.data : "the sample's second night";
  const what = `${outline.count} items of ${instance.name} from ${from}`;
  return { service, text: introduction(service, what, token) };
}

/** A token that came from elsewhere is not shown. */
async function serveKept(
  options: ServingOptions,
  kept: KeptRun,
  { CONTENT_API_TOKEN: given = "" }: CliEnvironment["env"],
): Promise<Started> {
  const content = await keptContent(kept);
  const service = await serve(content, options);
  const what = `${content.count} items that run ${kept.run} kept, from ${kept.directory}`;
  return { service, text: introduction(service, what, given === "" ? kept.token : "$CONTENT_API_TOKEN") };
}

async function keptRun(
  warehouse: string,
  wanted: string | undefined,
  { env }: CliEnvironment,
): Promise<KeptRun> {
  const found = await findReadable(existingFolder(warehouse), wanted ?? "current");
  return { ...found, token: env.CONTENT_API_TOKEN || randomUUID() };
}

function introduction({ url }: Serving, what: string, token: string): string {
  return [
    `Serving ${what}`,
    "",
    `  Address      ${url}`,
    `  Description  ${url}/openapi.json`,
    `  Try          curl -u ${token}: '${url}/api/v1/content?detail=basic&per_page=2'`,
    `  Export       CONTENT_API_URL=${url} CONTENT_API_TOKEN=${token} content-warehouse run nightly`,
    "",
    "Stop with Ctrl-C.",
  ].join("\n");
}

function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (given: string) => number {
  return (given) => {
    const number = /^\d+$/.test(given) ? Number(given) : Number.NaN;
    if (number >= least && number <= most) return number;
    const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} up` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

/** `5` and `0.5/second` by the second, `300/minute`, `5000/hour`. */
function rateLimit(given: string): RateLimitSpec {
  const [, number = "", period = "second"] = /^(\d+(?:\.\d+)?)(?:\/(\w+))?$/.exec(given) ?? [];
  const requests = Number(number);
  const per = PERIODS.find((each) => each === period);
  if (per !== undefined && requests > 0 && (per === "second" || Number.isSafeInteger(requests)))
    return { requests, per };
  throw new InvalidArgumentError(
    "It must be a number above 0, of requests a second, or a whole number with its period, such as 300/minute or 5000/hour.",
  );
}

const PERIODS: readonly RatePeriod[] = ["second", "minute", "hour"];
