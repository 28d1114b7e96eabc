import { Command, InvalidArgumentError } from "commander";
import { count, counted, megabytes } from "../../common/figures.ts";
import {
  generateContentSet,
  generateSampleSet,
  type Progress,
  type Summary,
} from "../../service/generate/generate.ts";
import { type CliEnvironment, invalid, processEnvironment, StopSignals } from "../command.ts";
import { printableText, writeOutcome } from "../render/terminal.ts";

/** Between two lines of progress. */
const PROGRESS_MS = 2000;

interface Options {
  items?: number;
  seed: number;
  out: string;
  sample?: true;
}

export function generateCommand(environment = processEnvironment()): Command {
  return new Command("generate")
    .description("make a content set for the embedded service: the same bytes for the same seed")
    .option("--items <n>", "number of content items", wholeNumber)
    .option("--seed <s>", "whole number that everything is drawn from", wholeNumber, 1)
    .requiredOption("--out <dir>", "folder for the content set; made if missing")
    .option(
      "--sample",
      "make the sample set instead, as committed in data/sample (takes neither --items nor --seed)",
    )
    .addHelpText(
      "after",
      `
Example:
  $ content-warehouse generate --items 10000 --seed 7 --out ./big-set
  $ content-warehouse serve --data ./big-set

The folder must be empty or hold a content set, which is replaced.`,
    )
    .action(async (options: Options, command: Command) => {
      const asked = ["items", "seed"].filter((name) => command.getOptionValueSource(name) === "cli");
      if (options.sample && asked.length > 0) {
        throw invalid(`--sample takes no --${asked.join(" or --")}; leave it out.`);
      }
      const summary = await generate(options, environment);
      const text = printableText(`${report(summary)}\n`);
      await writeOutcome(environment, { text, done: "The content set is there, but its summary" });
    });
}

async function generate({ items, seed, out, sample }: Options, { err }: CliEnvironment): Promise<Summary> {
  using stop = new StopSignals("nothing was written");
  const common = { out, signal: stop.signal, onProgress: progressLines(err) };
  if (sample) return await generateSampleSet(common);
  if (items === undefined) {
    throw invalid("--items is missing; say how many items, or --sample.");
  }
  return await generateContentSet({ items, seed, ...common });
}

/** A line to standard error every few seconds, none for work that is done before the first. */
function progressLines(err: CliEnvironment["err"]): (progress: Progress) => void {
  let last = Date.now();
  return ({ items, of, bytes }) => {
    if (Date.now() - last < PROGRESS_MS) return;
    last = Date.now();
    const percent = Math.floor((100 * items) / of);
    err.write(`${count(items)} of ${count(of)} items (${percent}%), ${megabytes(bytes)}\n`);
  };
}

function report(summary: Summary): string {
  const { items, contentTypes, users, campaigns, customFields, destinations, bytes, out } = summary;
  return `${[
    counted(items, "item"),
    counted(contentTypes, "content type"),
    counted(customFields, "custom field"),
    counted(users, "user"),
    counted(campaigns, "campaign"),
    counted(destinations, "destination"),
  ].join(", ")}: ${megabytes(bytes)} in ${out}`;
}

function wholeNumber(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError("Give a whole number.");
  return Number(text);
}
