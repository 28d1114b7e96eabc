/** Writes an answer for people as text or Markdown, or for programs as JSON or CSV. */
import type { Writable } from "node:stream";
import { styleText } from "node:util";
import { type DuckDBValue, listValue } from "@duckdb/node-api";
import type { Answer, AnswerCell, AnswerColumn, CellKind, Section } from "../common/answer.ts";
import { count, duration, fileSize, minuteOf, pluralize } from "../common/figures.ts";
import { jsonText, markdownSentence, markdownText } from "../common/printable.ts";
import { csvTexts, jsonArray, markdownRow, type RowStream } from "./rows.ts";
import { constantColumns, drawTable, type TextColumn } from "./table.ts";
import { paragraph, printableText, writeAll } from "./terminal.ts";

export const ANSWER_FORMATS = ["table", "json", "csv", "markdown"] as const;

export interface AnswerForm {
  readonly format: (typeof ANSWER_FORMATS)[number];
  /** Width of the screen; undefined for a file or a pipe, whose lines are not broken. */
  readonly width: number | undefined;
  readonly isColoured?: boolean | undefined;
  /** Whether CSV is made safe for spreadsheets. */
  readonly spreadsheet?: boolean | undefined;
  /** Most rows of each table; undefined: the section's own limit on a screen, else all. */
  readonly limit?: number | undefined;
}

type SectionRow = Section["rows"][number];

/** Writes an answer as wide as the screen is. */
export async function writeAnswer(
  out: Writable & { readonly columns?: number | undefined },
  answer: Answer,
  { limit, ...form }: Omit<AnswerForm, "width">,
): Promise<void> {
  const sections: Section[] = [];
  // Sections share a connection, on which a second stream would end the first.
  for (const each of answer.sections)
    sections.push(limit === undefined ? each : await withLimit(each, limit, form.format));
  await writeAll(out, answerTexts({ ...answer, sections }, { ...form, width: out.columns }));
}

async function withLimit(section: Section, limit: number, format: AnswerForm["format"]): Promise<Section> {
  const shown = section.limit === 0 ? 0 : limit;
  if (format === "table" && section.every === undefined) return { ...section, limit: shown };
  const rows: SectionRow[] = [];
  for await (const some of allRows(section)) {
    rows.push(...some.slice(0, limit - rows.length));
    if (rows.length === limit) break;
  }
  const total = section.total ?? section.rows.length;
  return { ...section, rows, every: undefined, total, limit: shown };
}

/** The texts of an answer. CSV has the first section only. */
export function answerTexts(answer: Answer, form: AnswerForm): AsyncIterable<string> | Iterable<string> {
  const { format, width, isColoured = false, spreadsheet = false } = form;
  switch (format) {
    case "table":
      return [answerText(answer, { width, isColoured })];
    case "markdown":
      return markdownTexts(answer);
    case "json":
      return jsonTexts(answer);
    case "csv": {
      const [section] = answer.sections;
      if (section === undefined) return [];
      const columns = Object.fromEntries(
        Object.entries(section.columns).filter(([, { isWords }]) => !isWords),
      );
      return csvTexts(streamOf({ ...section, columns }), { spreadsheet, toScreen: width !== undefined });
    }
  }
}

const NUMBERS: Readonly<Partial<Record<CellKind, (value: number) => string>>> = {
  count,
  bytes: fileSize,
  milliseconds: (value) => duration(value / 1000),
  share: (value) => `${(100 * value).toFixed(1)} %`,
};

/** Text of a cell for people. Elements of a list with commas are quoted. */
function shownText({ kind }: Pick<AnswerColumn, "kind">, cell: AnswerCell): string {
  if (cell === null) return "";
  if (cell instanceof Date) return minuteOf(cell);
  if (typeof cell === "number") return (NUMBERS[kind] ?? String)(cell);
  if (typeof cell !== "object") return String(cell);
  return cell.map((text) => (/[,"]|^$/.test(text) ? JSON.stringify(text) : text)).join(", ");
}

/** Text of a cell in its row: an empty one shows its stand-in, and another text beside it goes in brackets. */
export function shownCell({ columns }: Pick<Section, "columns">, name: string, row: SectionRow): string {
  const column = columns[name];
  if (column === undefined) return "";
  const { standIn, beside = "" } = column;
  const isEmpty = row[name] === null && standIn !== undefined;
  const text = shownText(column, row[isEmpty ? standIn : name] ?? null);
  const other = row[beside] ?? text;
  return other === text ? text : `${text} (${other})`;
}

/** Columns that people see, by name. */
export function shownColumns({ columns }: Pick<Section, "columns">): [name: string, column: AnswerColumn][] {
  return Object.entries(columns).filter(([, { hidden }]) => hidden !== true);
}

export function headOf(name: string, { head }: Pick<AnswerColumn, "head">): string {
  return head ?? name.replaceAll("_", " ");
}

export function isNumber({ kind }: Pick<AnswerColumn, "kind">): boolean {
  return Object.hasOwn(NUMBERS, kind);
}

interface ScreenForm {
  /** Undefined: lines are not broken. */
  readonly width: number | undefined;
  readonly isColoured: boolean;
}

/** The text of an answer; a blank line separates its parts. */
export function answerText(answer: Answer, screen: ScreenForm): string {
  const { lead, sections, next = [] } = answer;
  return [
    ...(lead === "" ? [] : [leadText(answer, screen)]),
    ...sections
      .flatMap(splitByReception)
      .filter(isShown)
      .map((section) => sectionText(section, screen)),
    ...(next.length === 0 ? [] : [next.map((text) => sentence(text, screen)).join("")]),
  ].join("\n");
}

/** Rows of destinations that receive no values get a table of their own, if the section has a title for it. */
function splitByReception(section: Section): Section[] {
  const { apart: title, rows } = section;
  const [received = [], others = []] = [true, false].map((receives) =>
    rows.filter(({ reception }) => (reception === undefined || reception === "receiving") === receives),
  );
  if (title === undefined || others.length === 0) return [section];
  // Rows of destinations that receive values come first, so all of them are here.
  const total = (section.total ?? rows.length) - received.length;
  return [
    { ...section, rows: received, total: received.length },
    { ...section, title, lead: undefined, rows: others, total },
  ];
}

/** A section without rows and sentences is for programs only. */
function isShown({ limit, lead, rows, none }: Section): boolean {
  return lead !== undefined || (rows.length === 0 ? none !== "" : limit !== 0);
}

function sentence(text: string, { width }: Pick<ScreenForm, "width">): string {
  return paragraph("", printableText(text), width);
}

/** If the answer says whether all is well, its first words up to a colon are coloured. */
function leadText({ lead, isWell }: Answer, screen: ScreenForm): string {
  const text = lead
    .split("\n")
    .map((each) => sentence(each, screen))
    .join("");
  const [word = ""] = lead.split(":", 1);
  if (!screen.isColoured || isWell === undefined || !text.startsWith(word)) return text;
  return painted(isWell ? "green" : "yellow", word) + text.slice(word.length);
}

function sectionText(section: Section, screen: ScreenForm): string {
  const { lead, none = "none", rows, isLines, title } = section;
  if (isLines === true) return linesText(section, screen);
  const leading = lead === undefined ? "" : sentence(lead, screen);
  if (rows.length === 0)
    return lead === undefined ? sentence(`${title}: ${none}`, screen) : `${title}\n${leading}`;
  const some = rows.slice(0, section.limit ?? 20);
  const more = (section.total ?? rows.length) - some.length;
  const others = some.length === 0 ? pluralize(more, "row") : `and ${pluralize(more, "more row")}`;
  const rest = more === 0 ? "" : sentence(`${others}; --limit ${more + some.length} shows all`, screen);
  if (some.length === 0) return `${title}\n${leading}${rest}`;
  const drawn = drawSection(section, some, screen);
  return `${drawn.title}${leading}${drawn.table}${rest}`;
}

/** On a narrow screen, cells that are equal in all rows move into the title. */
function drawSection(section: Section, some: readonly SectionRow[], screen: ScreenForm) {
  const { width } = screen;
  const shown = shownColumns(section);
  const columns = shown.map(([name, column]): TextColumn => {
    const { kind, dispensable } = column;
    const isFigure = isNumber(column);
    return {
      name: headOf(name, column),
      align: isFigure ? "right" : "left",
      dispensable,
      kept: (isFigure || kind === "instant") && dispensable === undefined,
      wraps: true,
      ...((kind === "name" || kind === "instant") && { whole: true }),
    };
  });
  const cells = (row: SectionRow) => shown.map(([name]) => shownCell(section, name, row));
  const all = { columns, rows: section.rows.map(cells) };
  const isAll = section.rows.length >= (section.total ?? 0);
  const constant = width === undefined || !isAll ? [] : constantColumns(all, width);
  const others = <T>(row: readonly T[]) => row.filter((_, at) => !constant.includes(at));
  const equal = constant.map((at) => `${columns[at]?.name}: ${all.rows[0]?.[at] || "none"}`);
  return {
    title: sentence(`${section.title}${equal.length === 0 ? "" : ` (${equal.join("; ")})`}`, screen),
    table: drawTable({ columns: others(columns), rows: some.map((row) => others(cells(row))) }, width),
  };
}

/** A line for each row: its names, then its text, which continues below itself. */
function linesText(section: Section, { width, isColoured }: ScreenForm): string {
  const names = shownColumns(section).map(([name]) => name);
  const [text = "", last = "", ...others] = names.toReversed();
  const padded = (name: string, minWidth: number) => {
    const cells = section.rows.map((row) => shownCell(section, name, row));
    const nameWidth = Math.max(minWidth, ...cells.map(({ length }) => length));
    return cells.map((cell) => cell.padEnd(nameWidth));
  };
  const columns = [...others.reverse().map((name) => padded(name, 0)), padded(last, 10)];
  return section.rows
    .map((row, index) => {
      const start = columns.map((column) => column[index]).join("  ");
      const line = indented(`  ${start} `, shownCell(section, text, row), width);
      if (!isColoured) return line;
      const name = start.trimEnd();
      return `  ${painted(row.notable === true ? "yellow" : "dim", name)}${line.slice(2 + name.length)}`;
    })
    .join("");
}

/** Further lines of the text keep their own indent. */
function indented(lead: string, text: string, width: number | undefined): string {
  const [first = "", ...others] = printableText(text).split("\n");
  const further = others.map((line) => {
    const own = line.trimStart();
    return paragraph(" ".repeat(lead.length + line.length - own.length), own, width);
  });
  return [paragraph(lead, first, width), ...further].join("");
}

function painted(colour: "green" | "yellow" | "dim", text: string): string {
  return styleText(colour, text, { validateStream: false });
}

/** Second-level headings with tables, for a page or a ticket. */
async function* markdownTexts({ lead, sections, next = [] }: Answer): AsyncIterable<string> {
  const shown = sections.flatMap(splitByReception).filter((each) => isShown({ ...each, limit: 1 }));
  let separator = "";
  for (const part of [...lead.split("\n"), ...shown, ...next]) {
    if (part === "") continue;
    yield separator;
    if (typeof part === "string") yield `${markdownSentence(part)}\n`;
    else yield* sectionMarkdown(part);
    separator = "\n";
  }
}

async function* sectionMarkdown(section: Section): AsyncIterable<string> {
  const { title, lead, none = "none", isLines = false } = section;
  yield `## ${title}\n`;
  if (lead !== undefined) yield `\n${markdownSentence(lead)}\n`;
  if (section.rows.length === 0) {
    if (lead === undefined) yield `\n${none}\n`;
    return;
  }
  const shown = shownColumns(section);
  yield `\n${markdownRow(shown.map(([name, column]) => headOf(name, column)))}`;
  yield markdownRow(shown.map(([, column]) => (isNumber(column) ? "---:" : "---")));
  const cell = isLines ? markdownSentence : markdownText;
  for await (const rows of allRows(section)) {
    const lines = rows.map((row) => markdownRow(shown.map(([name]) => cell(shownCell(section, name, row)))));
    yield lines.join("");
  }
}

/** The facts, the sentences before and after the tables, then the sections by key, one row a line. */
async function* jsonTexts({ lead, facts, sections, next = [] }: Answer): AsyncIterable<string> {
  const sentences = { ...(lead !== "" && { lead }), ...(next.length > 0 && { next }) };
  let before = "";
  yield "{";
  for (const [name, fact] of Object.entries({ ...facts, ...sentences })) {
    yield `${before}${JSON.stringify(name)}:${jsonText(fact)}`;
    before = ",\n";
  }
  for (const section of sections) {
    yield `${before}${JSON.stringify(section.key)}:`;
    yield* jsonArray(streamOf(section));
    before = ",\n";
  }
  yield "}\n";
}

async function* allRows(section: Section): AsyncIterable<readonly SectionRow[]> {
  if (section.every === undefined) yield section.rows;
  else yield* section.every();
}

/** All columns of a section, with instants such as `2026-11-20T02:00:00Z`. */
function streamOf(section: Section): RowStream {
  const names = Object.keys(section.columns);
  const value = (cell: AnswerCell): DuckDBValue => {
    if (cell instanceof Date) return cell.toISOString().replace(".000Z", "Z");
    return typeof cell === "object" && cell !== null ? listValue([...cell]) : cell;
  };
  const chunks = async function* () {
    for await (const rows of allRows(section))
      yield rows.map((row) => names.map((name) => value(row[name] ?? null)));
  };
  return { names, chunks: chunks() };
}
