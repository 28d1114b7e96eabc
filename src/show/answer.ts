/** An answer for a screen or a pipe: a title line, the leading sentence, tables, and what to do next; or JSON, CSV, Markdown. */
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
  /** Of the screen; undefined: a file or a pipe, whose lines are as long as they are. */
  readonly width: number | undefined;
  readonly isColoured?: boolean | undefined;
  /** CSV that no spreadsheet takes for formulas. */
  readonly spreadsheet?: boolean | undefined;
  /** Rows of each table; undefined: what suits each on a screen, else all. */
  readonly limit?: number | undefined;
}

type Row = Readonly<Record<string, AnswerCell>>;

/** Writes an answer, on a screen as wide as that is. */
export async function show(
  out: Writable & { readonly columns?: number | undefined },
  answer: Answer,
  { limit, ...form }: Omit<AnswerForm, "width">,
): Promise<void> {
  const sections: Section[] = [];
  // One after the other: they are read on one connection, where a second stream ends the first.
  for (const each of answer.sections)
    sections.push(limit === undefined ? each : await first(each, limit, form.format));
  await writeAll(out, answerTexts({ ...answer, sections }, { ...form, width: out.columns }));
}

/** A section with its first rows alone. */
async function first(section: Section, limit: number, format: AnswerForm["format"]): Promise<Section> {
  const shown = section.limit === 0 ? 0 : limit;
  if (format === "table" && section.every === undefined) return { ...section, limit: shown };
  const rows: Row[] = [];
  for await (const some of every(section)) {
    rows.push(...some.slice(0, limit - rows.length));
    if (rows.length === limit) break;
  }
  const total = section.total ?? section.rows.length;
  return { ...section, rows, every: undefined, total, limit: shown };
}

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
      // The first is what CSV has.
      const [section] = answer.sections;
      const toScreen = width !== undefined;
      if (section === undefined) return [];
      const columns = Object.fromEntries(
        Object.entries(section.columns).filter(([, { isWords }]) => !isWords),
      );
      return csvTexts(streamOf({ ...section, columns }), { spreadsheet, toScreen });
    }
  }
}

/** What a person reads of a cell. */
export function shownText({ kind }: Pick<AnswerColumn, "kind">, cell: AnswerCell): string {
  if (cell === null) return "";
  if (cell instanceof Date) return minuteOf(cell);
  if (typeof cell === "number") return (NUMBERS[kind] ?? String)(cell);
  return typeof cell === "object" ? cell.map(element).join(", ") : String(cell);
}

/** In quotes where it could be taken for two. */
function element(text: string): string {
  return /[,"]|^$/.test(text) ? JSON.stringify(text) : text;
}

const NUMBERS: Readonly<Partial<Record<CellKind, (value: number) => string>>> = {
  count,
  bytes: fileSize,
  milliseconds: (value) => duration(value / 1000),
  share: (value) => `${(100 * value).toFixed(1)} %`,
};

/** Of a row, with what stands in for an empty cell. */
export function shownCell({ columns }: Pick<Section, "columns">, name: string, row: Row): string {
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

export interface Screen {
  /** Undefined: none, and no line is broken. */
  readonly width: number | undefined;
  readonly isColoured: boolean;
}

/** Parts with a blank line between them. */
export function answerText(answer: Answer, screen: Screen): string {
  const { lead, sections, next = [] } = answer;
  return [
    ...(lead === "" ? [] : [leadText(answer, screen)]),
    ...sections
      .flatMap(apart)
      .filter(isTold)
      .map((section) => sectionText(section, screen)),
    ...(next.length === 0 ? [] : [next.map((text) => sentence(text, screen)).join("")]),
  ].join("\n");
}

/** The tables of a section that people see: rows of destinations that receive no values have one of their own. */
function apart(section: Section): Section[] {
  const { apart: title, rows } = section;
  const [first, others] = [true, false].map((receives) =>
    rows.filter(({ reception }) => (reception === undefined || reception === "receiving") === receives),
  );
  if (title === undefined || !others?.length) return [section];
  // Rows of destinations that receive values come first, so all of them are here.
  const received = first?.length ?? 0;
  return [
    { ...section, rows: first ?? [], total: received },
    { ...section, title, lead: undefined, rows: others, total: (section.total ?? rows.length) - received },
  ];
}

/** What people get neither rows nor a sentence of is for programs. */
function isTold({ limit, lead, rows, none }: Section): boolean {
  return lead !== undefined || (rows.length === 0 ? none !== "" : limit !== 0);
}

function sentence(text: string, { width }: Pick<Screen, "width">): string {
  return paragraph("", printableText(text), width);
}

/** Coloured up to its colon where it says whether all is well. */
function leadText({ lead, isWell }: Answer, screen: Screen): string {
  const text = lead
    .split("\n")
    .map((each) => sentence(each, screen))
    .join("");
  const [word = ""] = lead.split(":", 1);
  if (!screen.isColoured || isWell === undefined || !text.startsWith(word)) return text;
  return painted(isWell ? "green" : "yellow", word) + text.slice(word.length);
}

function sectionText(section: Section, screen: Screen): string {
  const { lead, none = "none", rows, isLines } = section;
  if (isLines === true) return linesText(section, screen);
  const said = lead === undefined ? "" : sentence(lead, screen);
  if (rows.length === 0)
    return lead === undefined ? sentence(`${section.title}: ${none}`, screen) : `${section.title}\n${said}`;
  const some = rows.slice(0, section.limit ?? 20);
  const more = (section.total ?? rows.length) - some.length;
  const others = some.length === 0 ? pluralize(more, "row") : `and ${pluralize(more, "more row")}`;
  const rest = more === 0 ? "" : sentence(`${others}; --limit ${more + some.length} shows all`, screen);
  const { title, table } = drawn(section, some, screen);
  return some.length === 0 ? `${section.title}\n${said}${rest}` : `${title}${said}${table}${rest}`;
}

/** The title and the table. On a narrow screen the title has what all rows have. */
function drawn(section: Section, some: readonly Row[], screen: Screen): Record<"title" | "table", string> {
  const { width } = screen;
  const shown = shownColumns(section);
  const columns = shown.map(([name, column]): TextColumn => {
    const isFigure = isNumber(column);
    return {
      name: headOf(name, column),
      align: isFigure ? "right" : "left",
      dispensable: column.dispensable,
      kept: (isFigure || column.kind === "instant") && column.dispensable === undefined,
      wraps: true,
      ...((column.kind === "name" || column.kind === "instant") && { whole: true }),
    };
  });
  const cells = (row: Row) => shown.map(([name]) => shownCell(section, name, row));
  const all = { columns, rows: section.rows.map(cells) };
  const isAll = section.rows.length >= (section.total ?? 0);
  const constant = width === undefined || !isAll ? [] : constantColumns(all, width);
  const left = <T>(row: readonly T[]) => row.filter((_, at) => !constant.includes(at));
  const told = constant.map((at) => `${columns[at]?.name}: ${all.rows[0]?.[at] || "none"}`);
  return {
    title: sentence(`${section.title}${told.length === 0 ? "" : ` (${told.join("; ")})`}`, screen),
    table: drawTable({ columns: left(columns), rows: some.map((row) => left(cells(row))) }, width),
  };
}

const NAME_WIDTH = 10;

/** Lines of what a row is, and its text: a sentence, which a narrow screen breaks, or lines to copy. */
function linesText(section: Section, { width, isColoured }: Screen): string {
  const names = shownColumns(section).map(([name]) => name);
  const [text = "", last = "", ...others] = names.toReversed();
  const cells = (name: string) => section.rows.map((row) => shownCell(section, name, row));
  const padded = (name: string, least: number) => {
    const nameWidth = Math.max(least, ...cells(name).map(({ length }) => length));
    return cells(name).map((cell) => cell.padEnd(nameWidth));
  };
  const leading = [...others.reverse().map((name) => padded(name, 0)), padded(last, NAME_WIDTH)];
  return section.rows
    .map((row, index) => {
      const called = leading.map((column) => column[index]).join("  ");
      const told = indented(`  ${called} `, shownCell(section, text, row), width);
      if (!isColoured) return told;
      const name = called.trimEnd();
      return `  ${painted(row.notable === true ? "yellow" : "dim", name)}${told.slice(2 + name.length)}`;
    })
    .join("");
}

/** Further lines keep what they are indented by themselves. */
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

/** Headings of the second level with tables below, for a page or a ticket. */
async function* markdownTexts({ lead, sections, next = [] }: Answer): AsyncIterable<string> {
  let before = "";
  for (const text of [
    ...lead.split("\n"),
    ...sections.flatMap(apart).filter((each) => isTold({ ...each, limit: 1 })),
    ...next,
  ].filter((each) => each !== "")) {
    yield before;
    if (typeof text === "string") yield `${markdownSentence(text)}\n`;
    else yield* sectionMarkdown(text);
    before = "\n";
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
  for await (const rows of every(section)) {
    const lines = rows.map((row) => markdownRow(shown.map(([name]) => cell(shownCell(section, name, row)))));
    yield lines.join("");
  }
}

/** The facts, what is said before and after the tables, then the sections by their names, a row a line. */
async function* jsonTexts({ lead, facts, sections, next = [] }: Answer): AsyncIterable<string> {
  const said = { ...(lead !== "" && { lead }), ...(next.length > 0 && { next }) };
  let before = "";
  yield "{";
  for (const [name, fact] of Object.entries({ ...facts, ...said })) {
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

async function* every(section: Section): AsyncIterable<readonly Row[]> {
  if (section.every === undefined) yield section.rows;
  else yield* section.every();
}

/** Rows of a section for forms that have all columns. */
export function streamOf(section: Section): RowStream {
  const names = Object.keys(section.columns);
  const chunks = async function* () {
    for await (const rows of every(section)) {
      yield rows.map((row) => names.map((name) => plainValue(row[name] ?? null)));
    }
  };
  return { names, chunks: chunks() };
}

/** `2026-11-20T02:00:00Z` of an instant. */
function plainValue(cell: AnswerCell): DuckDBValue {
  if (cell instanceof Date) return cell.toISOString().replace(".000Z", "Z");
  return typeof cell === "object" && cell !== null ? listValue([...cell]) : cell;
}
