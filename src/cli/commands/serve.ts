/** `serve`: serves a content set as the service would. */
import { once } from "node:events";
import { inspect } from "node:util";
import { Option } from "commander";
import { packagePath } from "../../common/package-root.ts";
import { inTemporaryFolder } from "../../common/temporary-folder.ts";
import { applyChanges } from "../../service/load.ts";
import { createService, type Service, type ServiceOptions } from "../../service/service.ts";
import { writeResult } from "../../show/terminal.ts";
import {
  CliCommand,
  type CliEnvironment,
  positive,
  processEnvironment,
  StopSignals,
  wholeNumber,
} from "../command.ts";

interface ServeFlags extends ServiceOptions {
  readonly data: string;
  /** 2 serves the sample as it is one night later. */
  readonly night: 1 | 2;
}

const EXAMPLES = `
Examples:
  $ content-warehouse serve
  $ content-warehouse serve --night 2
  $ content-warehouse serve --repeat 20 --rate-limit 5 --latency 300
`;

export function serveCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("serve")
    .addOption(
      new Option("--data <dir>", "folder of the content set").default(
        packagePath("data/sample"),
        "the sample",
      ),
    )
    .addOption(
      new Option("--night <n>", "1, or 2 for the sample one night later")
        .argParser(wholeNumber(1, 2))
        .default(1)
        .conflicts("data"),
    )
    .addOption(
      new Option("--repeat <n>", "serve the set n times, under new IDs")
        .argParser(wholeNumber(1, 100_000))
        .default(1),
    )
    .option("--port <n>", "port to listen on; 0 takes a free one", wholeNumber(0, 65_535), 8080)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--max-per-page <n>", "largest page, in items", positive, 100)
    .option("--rate-limit <n>", "requests a second for each token; more get 429", positive)
    .option("--latency <ms>", "milliseconds before each answer", wholeNumber(0, 600_000), 0)
    .addHelpText("after", EXAMPLES)
    .action((options: ServeFlags) => serveUntilStopped(options, environment));
}

async function serveUntilStopped(options: ServeFlags, environment: CliEnvironment): Promise<void> {
  if (options.night === 1) return serveFolder(options, environment);
  await inTemporaryFolder("serve", async (data) => {
    await applyChanges(options.data, packagePath("data/sample-night-2"), data);
    await serveFolder({ ...options, data }, environment);
  });
}

async function serveFolder(options: ServeFlags, environment: CliEnvironment): Promise<void> {
  const { err } = environment;
  const onFailure = (thrown: unknown) => err.write(`A request failed: ${inspect(thrown)}\n`);
  const service = await createService({ ...options, onFailure });
  using stop = new StopSignals("the service is closed");
  try {
    await writeResult(environment.out, `${introduction(service, options)}\n`);
    if (!stop.signal.aborted) await once(stop.signal, "abort");
  } finally {
    await service.close();
  }
}

function introduction({ url, contentSet }: Service, { night, data }: ServeFlags): string {
  const { documents, instance, tokens } = contentSet;
  const [token = "TOKEN"] = tokens.keys();
  const from = night === 1 ? data : "the sample's second night";
  return [
    `Serving ${documents.length} items of ${instance.name} from ${from}`,
    "",
    `  Address      ${url}`,
    `  Description  ${url}/openapi.json`,
    `  Try          curl -u ${token}: '${url}/api/v1/content?detail=basic&per_page=2'`,
    `  Export       CONTENT_API_URL=${url} CONTENT_API_TOKEN=${token} content-warehouse run nightly --warehouse served`,
    "",
    "Stop with Ctrl-C.",
  ].join("\n");
}
