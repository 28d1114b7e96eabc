import { Command, InvalidArgumentError, Option } from "commander";
import { loadSql } from "../../audit/load-sql.ts";
import type { OpenedRun } from "../../audit/open-run.ts";
import { type Diff, diffRuns, whyOf } from "../../audit/questions/diff.ts";
import { findPair, type RunPair } from "../../audit/questions/diff-runs.ts";
import { csvRow, safeText } from "../../common/csv.ts";
import { counted } from "../../common/figures.ts";
import { all, type Row, stream } from "../../storage/duckdb.ts";
import { CAUSES, type Cause } from "../../tables/history.ts";
import { cellText, jsonObject } from "../render/cells.ts";
import {
  causesText,
  changeWords,
  diffSections,
  diffText,
  type Group,
  headline,
  totalText,
} from "../render/diff-text.ts";
import { type Section, sectionMarkdown, sectionTables } from "../render/sections.ts";
import { printableText, standardOutput, type Terminal, writeAll } from "../render/terminal.ts";
import { paragraph } from "../render/wrap.ts";
import { withRuns } from "../with-run.ts";
import { DEFAULT_OUT } from "./sql.ts";

const FORMATS = ["table", "json", "csv", "markdown"] as const;

interface Options {
  readonly out: string;
  readonly cause?: Cause;
  readonly destination?: string;
  readonly field?: string;
  readonly items?: true;
  readonly limit?: number;
  readonly format: (typeof FORMATS)[number];
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

/** `content-warehouse diff`: which external values are others than in an earlier run, for which items, and why. */
export function diffCommand(terminal: Terminal = standardOutput()): Command {
  return new Command("diff")
    .description("show which external values changed between two runs, and why")
    .argument("[run-a]", "the earlier run: its name or number, or previous", "previous")
    .argument("[run-b]", "the later run: its name or number, or current", "current")
    .option("--out <dir>", "folder of the warehouse", DEFAULT_OUT)
    .addOption(new Option("--cause <cause>", "only changes with this cause").choices(CAUSES))
    .option("--destination <name>", "only this destination, by name or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--items", "list the items too")
    .option("--limit <n>", "lines of each list (default: 5 or 10 on a screen, else all)", positive)
    .addOption(new Option("--format <format>", "form of the answer").choices(FORMATS).default("table"))
    .addHelpText("after", EXAMPLES)
    .action((before: string, after: string, options: Options) =>
      withRuns(
        options.out,
        async (folder, temporaryDirectory) => {
          const pair = await findPair(folder, [before, after], temporaryDirectory);
          const opens =
            pair.basis === undefined
              ? { wanted: pair.after.run, beside: pair.before.run }
              : { wanted: pair.basis };
          return { pair, ...opens };
        },
        async (opened, { pair }) => {
          const { cause, destination, field } = options;
          const diff = await diffRuns(opened, pair, { cause, destination, field });
          await writeAll(terminal, texts(opened, { pair, diff, options, width: terminal.columns }));
        },
      ),
    );
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("Give a whole number from 1.");
  return Number(text);
}

interface Told {
  readonly pair: RunPair;
  readonly diff: Diff;
  readonly options: Options;
  /** Of the screen. */
  readonly width: number | undefined;
}

function texts(opened: OpenedRun, told: Told): AsyncIterable<string> {
  switch (told.options.format) {
    case "json":
      return jsonTexts(opened, told);
    case "csv":
      return csvTexts(opened, told);
    case "markdown":
      return markdownTexts(opened, told);
    default:
      return screenTexts(opened, told);
  }
}

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
    yield `\n${sectionTables([itemsSection(items)], width)}`;
    const more = diff.values - items.length;
    if (more > 0) yield `and ${counted(more, "more value")} of items; --limit shows more, --format csv all\n`;
  }
  yield `\n${totalText(diff)}\n`;
}

function nothing({ cause, destination, field }: Options): string {
  const filtered = cause !== undefined || destination !== undefined || field !== undefined;
  return filtered
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
  return (
    line.causes === group.causes &&
    line.destination_id === group.destination_id &&
    line.custom_field_id === group.custom_field_id
  );
}

function itemsSection(rows: readonly Row[]): Section {
  return {
    key: "items",
    title: "Items",
    none: "none",
    columns: [],
    shown: [
      ["content_id", "item"],
      ["title"],
      ["destination"],
      ["custom_field", "field"],
      ["shown", "change"],
      ["causes", "cause"],
    ],
    rows: rows.map((row) => ({ ...row, causes: causesText(row.causes), shown: changeWords(row) })),
    whole: ["content_id"],
    limit: rows.length,
  };
}

async function* markdownTexts({ connection }: OpenedRun, told: Told): AsyncIterable<string> {
  const { pair, diff, options } = told;
  yield `${headline(pair, diff)}\n\n`;
  if (diff.values === 0) return yield `${nothing(options)}\n`;
  const some = options.limit === undefined ? "" : ` LIMIT ${options.limit}`;
  const lines = await all(connection, `${loadSql("audit_diff_lines")}${some}`);
  const section: Section = {
    key: "lines",
    title: "What changed",
    none: "none",
    columns: [],
    shown: [
      ["causes", "cause"],
      ["destination"],
      ["custom_field", "field"],
      ["shown", "change"],
      ["why"],
      ["items"],
    ],
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
  yield `\n${sectionMarkdown([itemsSection(items)])}`;
}

/** Rows of a step as they come, each with why. */
async function* rowsOf(
  { connection }: OpenedRun,
  { diff, options }: Told,
  step: "audit_diff_lines" | "audit_diff_items",
): AsyncIterable<[string, Row[string]][][]> {
  const some = options.limit === undefined ? "" : ` LIMIT ${options.limit}`;
  const result = await stream(connection, `${loadSql(step)}${some}`);
  const names = result.columnNames();
  for await (const chunk of result.yieldRows()) {
    yield chunk.map((cells) => {
      const row: [string, Row[string]][] = names.map((name, index) => [name, cells[index] ?? null]);
      return [...row, ["why", whyOf(diff, Object.fromEntries(row)).join("; ")]];
    });
  }
}

async function* jsonTexts(opened: OpenedRun, told: Told): AsyncIterable<string> {
  const { pair, diff, options } = told;
  const { before, after, basis } = pair;
  const rows = (some: readonly object[]) =>
    some.length === 0 ? "[]" : `[\n${some.map((row) => jsonObject(Object.entries(row))).join(",\n")}\n]`;
  yield `{"from":${JSON.stringify(before)},\n"to":${JSON.stringify(after)},\n`;
  yield `"history_of":${JSON.stringify(basis ?? null)},"causes_known":${basis !== undefined},`;
  yield `"items_changed":${diff.items},"values_changed":${diff.values},\n`;
  yield `"causes":${rows(diff.causes)},\n"groups":${rows(diff.groups)}`;
  const steps = options.items === true ? (["lines", "items"] as const) : (["lines"] as const);
  for (const name of steps) {
    yield `,\n"${name}":[`;
    let between = "\n";
    for await (const chunk of rowsOf(opened, told, `audit_diff_${name}`)) {
      let text = "";
      for (const row of chunk) {
        text += `${between}${jsonObject(row)}`;
        between = ",\n";
      }
      yield text;
    }
    yield between === "\n" ? "]" : "\n]";
  }
  yield "}\n";
}

/** A line per change, or with --items per changed value of an item; no text is a formula to a spreadsheet. */
async function* csvTexts(opened: OpenedRun, told: Told): AsyncIterable<string> {
  const step = told.options.items === true ? "audit_diff_items" : "audit_diff_lines";
  const shown = (text: string) => (told.width === undefined ? text : printableText(text));
  const { connection } = opened;
  const names = (await connection.runAndReadAll(`${loadSql(step)} LIMIT 0`)).columnNames();
  yield csvRow([...names, "why"]);
  for await (const chunk of rowsOf(opened, told, step)) {
    const lines = chunk.map((row) =>
      csvRow(row.map(([, cell]) => (typeof cell === "string" ? safeText(cell) : cellText(cell)))),
    );
    yield shown(lines.join(""));
  }
}
