import type { DuckDBValue } from "@duckdb/node-api";
import { loadSql } from "../../audit/load-sql.ts";
import type { OpenedRun } from "../../audit/open-run.ts";
import { type Diff, diffRuns, whyOf } from "../../audit/questions/diff.ts";
import { findPair, type RunPair } from "../../audit/questions/diff-runs.ts";
import { counted } from "../../common/figures.ts";
import { csvTexts, jsonArray, jsonRows, type RowStream, type Rows } from "../../show/rows.ts";
import { paragraph, writeAll } from "../../show/terminal.ts";
import { all, type Row, stream } from "../../storage/duckdb.ts";
import { CAUSES, type Cause } from "../../tables/history.ts";
import { CliCommand, positive, processEnvironment } from "../command.ts";
import {
  causesText,
  changeWords,
  diffSections,
  diffText,
  type Group,
  headline,
  itemsText,
} from "../render/diff-text.ts";
import { type Section, sectionMarkdown } from "../render/sections.ts";
import { withRuns } from "../with-run.ts";

interface Options {
  readonly warehouse: string;
  readonly cause?: Cause;
  readonly destination?: string;
  readonly field?: string;
  readonly items?: true;
  readonly limit?: number;
  readonly format: keyof typeof FORMS;
  readonly spreadsheet?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse diff
  $ content-warehouse diff 41 42
  $ content-warehouse diff 000041-20261119T020000Z current --cause mapping_changed --destination "Web CMS" --items
  $ content-warehouse diff 30 current --format csv --items > changes.csv

A run is given by its name or number, also one whose files are gone, or as "current" or "previous". A line is one change
however many items it touches; --items lists those. "no payload change": the destination is sent the same, and the status, a
flag or a value that is not sent is another.
`;

export function diffCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("diff")
    .description("show which external values changed between two runs, and why")
    .argument("[run-a]", "the earlier run: its name or number, or previous", "previous")
    .argument("[run-b]", "the later run: its name or number, or current", "current")
    .warehouse()
    .choice("--cause <cause>", "only changes with this cause", CAUSES)
    .option("--destination <name>", "only this destination, by name or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--items", "list the items too")
    .option("--limit <n>", "lines of each list (default: 5 or 10 on a screen, else all)", positive)
    .format(...Object.keys(FORMS))
    .spreadsheet()
    .addHelpText("after", EXAMPLES)
    .action((before: string, after: string, options: Options) =>
      withRuns(
        options.warehouse,
        async (folder, temporaryDirectory) => {
          const pair = await findPair(folder, [before, after], temporaryDirectory);
          const { basis, before: earlier, after: later } = pair;
          return { pair, wanted: basis ?? later.run, beside: basis === undefined ? earlier.run : undefined };
        },
        async (opened, { pair }) => {
          const { cause, destination, field } = options;
          const diff = await diffRuns(opened.connection, pair, { cause, destination, field });
          await writeAll(out, FORMS[options.format](opened, { pair, diff, options, width: out.columns }));
        },
      ),
    );
}

interface Told {
  readonly pair: RunPair;
  readonly diff: Diff;
  readonly options: Options;
  /** Of the screen. */
  readonly width: number | undefined;
}

const FORMS = { table: screenTexts, json: jsonTexts, csv, markdown: markdownTexts };

/** What a screen gets of each list: lines of a group, groups of a cause, items. */
const LINES_SHOWN = 5;
const SHOWN = 10;

async function* screenTexts({ connection }: OpenedRun, told: Told): AsyncIterable<string> {
  const { pair, diff, options, width } = told;
  yield paragraph("", headline(pair, diff), width);
  if (diff.values === 0) return yield `${nothing(options)}\n`;
  const limit = options.limit ?? SHOWN;
  const lines = await all(connection, LINES_OF_GROUPS, [options.limit ?? LINES_SHOWN]);
  const groups = diff.groups.map((row): Group => {
    const own = lines.filter((line) => sameGroup(line, row));
    return { row, lines: own, more: Number(own[0]?.of_group ?? 0) - own.length };
  });
  yield `\n${diffText(diff, groups, { width, limit })}`;
  if (options.items === true) {
    const items = await all(connection, `${loadSql("audit_diff_items")} LIMIT ${limit}`);
    yield `\n${itemsText(items, width)}`;
    const more = diff.values - items.length;
    if (more > 0) yield `and ${counted(more, "more value")} of items; --limit shows more, --format csv all\n`;
  }
  yield `\n${counted(diff.values, "mapped value")} of ${counted(diff.items, "item")} changed\n`;
}

function nothing({ cause, destination, field }: Options): string {
  return [cause, destination, field].some((each) => each !== undefined)
    ? "Nothing that the filters let through changed."
    : "Nothing changed: every mapped value is as it was.";
}

/** The first lines of each group, with how many it has. */
const LINES_OF_GROUPS = `
  SELECT * FROM (
    SELECT *, row_number() OVER () AS place, count(*) OVER (PARTITION BY causes, destination_id, custom_field_id) AS of_group
    FROM (${loadSql("audit_diff_lines")})
  )
  QUALIFY row_number() OVER (PARTITION BY causes, destination_id, custom_field_id ORDER BY place) <= $1::BIGINT
  ORDER BY place`;

function sameGroup(line: Row, group: Row): boolean {
  return ["causes", "destination_id", "custom_field_id"].every((name) => line[name] === group[name]);
}

async function* markdownTexts({ connection }: OpenedRun, told: Told): AsyncIterable<string> {
  const { pair, diff, options } = told;
  yield `${headline(pair, diff)}\n\n`;
  if (diff.values === 0) return yield `${nothing(options)}\n`;
  const some = limitSql(options);
  const lines = await all(connection, `${loadSql("audit_diff_lines")}${some}`);
  const section: Section = {
    key: "lines",
    title: "What changed",
    shown: "causes destination custom_field shown why items",
    rows: lines.map((row) => ({
      ...row,
      causes: causesText(row.causes),
      shown: changeWords(row),
      why: whyOf(diff, row).join("; "),
    })),
  };
  yield sectionMarkdown([...diffSections(diff), section]);
  if (options.items !== true) return;
  const items = await all(connection, `${loadSql("audit_diff_items")}${some}`);
  const itemsSection: Section = {
    key: "items",
    title: "Items",
    shown: "content_id title destination custom_field shown causes",
    rows: items.map((row) => ({ ...row, causes: causesText(row.causes), shown: changeWords(row) })),
  };
  yield `\n${sectionMarkdown([itemsSection])}`;
}

/** Rows of a step as they come, each with why. */
async function streamed(
  { connection }: OpenedRun,
  { diff, options }: Told,
  step: "audit_diff_lines" | "audit_diff_items",
): Promise<RowStream> {
  const result = await stream(connection, `${loadSql(step)}${limitSql(options)}`);
  const names = result.columnNames();
  const whyAt = (row: readonly DuckDBValue[]) =>
    whyOf(diff, Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]))).join("; ");
  const chunks = async function* (): AsyncIterable<Rows> {
    for await (const rows of result.yieldRows()) yield rows.map((row) => [...row, whyAt(row)]);
  };
  return { names: [...names, "why"], chunks: chunks() };
}

function limitSql({ limit }: Options): string {
  return limit === undefined ? "" : ` LIMIT ${limit}`;
}

async function* jsonTexts(opened: OpenedRun, told: Told): AsyncIterable<string> {
  const { pair, diff, options } = told;
  const { before, after, basis } = pair;
  yield `{"from":${JSON.stringify(before)},\n"to":${JSON.stringify(after)},\n`;
  yield `"history_of":${JSON.stringify(basis ?? null)},"causes_known":${basis !== undefined},`;
  yield `"items_changed":${diff.items},"values_changed":${diff.values},\n`;
  yield `"causes":${jsonRows(diff.causes)},\n"groups":${jsonRows(diff.groups)}`;
  const steps = options.items === true ? (["lines", "items"] as const) : (["lines"] as const);
  for (const name of steps) {
    yield `,\n"${name}":`;
    yield* jsonArray(await streamed(opened, told, `audit_diff_${name}`));
  }
  yield "}\n";
}

/** A line per change, or with --items per changed value of an item. */
async function* csv(opened: OpenedRun, told: Told): AsyncIterable<string> {
  const { items } = told.options;
  const step = items === true ? "audit_diff_items" : "audit_diff_lines";
  const form = { spreadsheet: told.options.spreadsheet === true, toScreen: told.width !== undefined };
  yield* csvTexts(await streamed(opened, told, step), form);
}
