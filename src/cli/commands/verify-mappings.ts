import { randomInt } from "node:crypto";
import type { ExplainedDifference, VerifiedItem } from "../../audit/mapping/compare.ts";
import type { Definitions } from "../../audit/mapping/definitions.ts";
import type { OpenedRun } from "../../audit/open-run.ts";
import { WarehouseError } from "../../common/errors.ts";
import { count, counted } from "../../common/figures.ts";
import type { Config, ConfigFlags } from "../../config/config.ts";
import { type VerifiedMappings, verifyMappings } from "../../run/verify-mappings.ts";
import { CliCommand, type CliEnvironment, positive, processEnvironment } from "../command.ts";
import { createDisplay } from "../render/display.ts";
import { drawInParts, left, right, tableOf, whole } from "../render/table.ts";
import { printableText, writeAll } from "../render/terminal.ts";
import { askAgain, serviceConfig, withRun } from "../with-run.ts";

interface Options extends ConfigFlags {
  readonly warehouse: string;
  readonly items: number;
  readonly seed?: string;
  readonly format: "table" | "json";
}

const EXAMPLES = `
Examples:
  $ CONTENT_API_TOKEN=... content-warehouse verify-mappings --items 200 --url https://content.example.com
  $ content-warehouse verify-mappings 42 --items 50 --seed 7 --config ./content-warehouse.config.json
  $ content-warehouse verify-mappings --items 50 --sample

RUN is a run's name, its number, or "current"; --sample is for a run of the sample.

Asks the service that the run read for so many of its items and for its definitions and destinations, and holds what the
mapping procedure gives for the answers against the published mapped values. A difference that the item's own time, or a
changed definition or mapping, explains is a change since the run. Exit code 31: there is a difference that nothing
explains.
`;

export function verifyMappingsCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("verify-mappings")
    .description(
      "ask the service again for some items, and check the published mapped values against its answers",
    )
    .argument("[run]", "name or number of a run, or current", "current")
    .requiredOption("--items <n>", "number of items to ask for (required)", positive)
    .option(
      "--seed <text>",
      "which items: the same seed draws the same ones (default: another draw each time)",
    )
    .service("ask the embedded service with the sample content")
    .warehouse()
    .format("table", "json")
    .addHelpText("after", EXAMPLES)
    .action(async (run: string, options: Options) => {
      const command = `verify-mappings --items ${options.items}`;
      const config = await serviceConfig(environment, options, command);
      await withRun(options.warehouse, run, (opened) => verify(opened, config, options, environment));
    });
}

async function verify(
  opened: OpenedRun,
  config: Config,
  options: Options,
  environment: CliEnvironment,
): Promise<void> {
  const { run } = opened;
  const { out, err } = environment;
  const seed = options.seed ?? String(randomInt(2 ** 32));
  const { onProgress } = createDisplay({
    write: (text) => err.write(text),
    report: (line) => err.write(`${line}\n`),
    columns: undefined,
    elapsedMs: () => performance.now(),
  });
  const onItem = (done: number, total: number) =>
    onProgress({ stage: "items", done, total, items: done, bytes: 0 });
  const found = await askAgain(opened, config, environment, (source, asking) =>
    verifyMappings(opened, { items: options.items, seed, source, onItem, ...asking }),
  );
  const text =
    options.format === "json" ? jsonText(run, seed, found) : reportText(run, seed, found, out.columns);
  await writeAll(out, [text]);
  const wrong = found.others.filter(({ verdict }) => verdict === "differs");
  if (wrong.length === 0) return;
  throw new WarehouseError(
    "verify.failed",
    `Of ${counted(found.asked, "item")} ${count(wrong.length)} ${wrong.length === 1 ? "has" : "have"} mapped values in the run ${run} ` +
      "that the service's answers do not give, and no change since the run explains it; run again, and compare.",
  );
}

const cellAt = (index: number) => (cells: readonly string[]) => cells[index] ?? "";

/** A row's number says which rows belong together where the table takes several parts. */
const COLUMNS = [
  right("row", cellAt(0)),
  whole("item", cellAt(1)),
  whole("destination", cellAt(2)),
  whole("field", cellAt(3)),
  left("because", cellAt(4)),
  left("published", cellAt(5)),
  left("by the answers", cellAt(6)),
];

/** Rows that a screen gets; `--format json` has all. */
const SHOWN = 40;

function reportText(
  run: string,
  seed: string,
  { asked, agreeing, others, published }: VerifiedMappings,
  width: number | undefined,
): string {
  const rows = others.flatMap(({ contentId, verdict, differences }) =>
    verdict === "gone"
      ? [[contentId, "", "", "item gone"]]
      : differences.map((each) => [contentId, ...differenceCells(each, published)]),
  );
  const numbered = rows.slice(0, SHOWN).map((cells, index) => [count(index + 1), ...cells]);
  const drawn = rows.length === 0 ? "" : drawInParts(tableOf(numbered, COLUMNS), 1, width);
  const more = rows.length > SHOWN ? `and ${counted(rows.length - SHOWN, "more row")}; ` : "";
  const inFull = rows.length === 0 ? "" : `${more}--format json has all in full\n`;
  const of = (verdict: VerifiedItem["verdict"]) => others.filter((item) => item.verdict === verdict).length;
  return `${drawn}${inFull}${printableText(
    `${counted(asked, "item")} of the run ${run} asked for again (seed ${seed}): ${count(agreeing)} agree, ` +
      `${count(of("changed"))} changed since the run, ${count(of("gone"))} gone, ${count(of("differs"))} differ`,
  )}\n`;
}

function differenceCells(
  { destinationId, customFieldId, published, computed, columns, cause }: ExplainedDifference,
  { destinations, fields }: Definitions,
): string[] {
  const shown = (row: typeof published) => {
    if (row === undefined) return "no row";
    const value = row.status === "mapped" ? (row.externalValue ?? "no external value") : row.status;
    const others = columns.filter((column) => column !== "externalValue" && column !== "status");
    return [value, ...others.map((column) => `${column}=${String(row[column])}`)].join(", ");
  };
  return [
    destinations.find((each) => each.destinationId === destinationId)?.identification ?? destinationId,
    fields.find((each) => each.customFieldId === customFieldId)?.name ?? customFieldId,
    cause?.replaceAll("_", " ") ?? "NOTHING EXPLAINS IT",
    shown(published),
    shown(computed),
  ];
}

function jsonText(run: string, seed: string, { asked, agreeing, others }: VerifiedMappings): string {
  const items = others.map(({ contentId, verdict, differences }) => ({
    contentId,
    verdict,
    differences: differences.map(({ published, computed, cause, ...at }) => ({
      ...at,
      cause: cause ?? null,
      published: published ?? null,
      byTheAnswers: computed ?? null,
    })),
  }));
  return `${JSON.stringify({ run, seed, asked, agreeing, items }, undefined, 2)}\n`;
}
