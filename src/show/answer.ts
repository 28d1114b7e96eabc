/** Writes an answer for people as text or Markdown, or for programs as JSON or CSV. */
import { styleText } from "node:util";
import type { Answer, AnswerCell, AnswerColumn, CellKind, Section } from "../common/answer.ts";
import { count, duration, fileSize, minuteOf, pluralize } from "../common/figures.ts";
import { jsonText, markdownSentence, markdownText } from "../common/printable.ts";
import { csvTexts, jsonArray, markdownRow, rowTexts } from "./rows.ts";
import { drawTables, type TextColumn } from "./table.ts";
import type { TerminalEnvironment } from "./terminal.ts";
import { displayWidth, paragraph, printableText, takesColours, widthOf, writeAll } from "./terminal.ts";

export const ANSWER_FORMATS = ["table", "json", "csv", "markdown"] as const;

/** Flags of a command that say how its answer is shown. */
export interface AnswerFlags {
  readonly format: (typeof ANSWER_FORMATS)[number];
  /** Key of the only section to show, as options spell it; `undefined` shows all, and as CSV the first. */
  readonly section?: string | undefined;
  /** Whether CSV is made safe for spreadsheets. */
  readonly spreadsheet?: boolean | undefined;
  /** Most rows of each table; `undefined`: the section's own limit on a screen, else all. */
  readonly limit?: number | undefined;
}

type SectionRow = Section["rows"][number];

/** Spells the key of a section as an option does: `new-fields`. */
export function sectionName(key: string): string {
  return key.replaceAll("_", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Writes an answer. A section that it lacks is shown like one without rows. */
export async function showAnswer(
  environment: TerminalEnvironment,
  answer: Answer,
  { format, section, spreadsheet = false, limit }: AnswerFlags,
): Promise<void> {
  const sections: Section[] = [];
  // Sections share a connection, on which a second stream would end the first.
  for (const each of answer.sections)
    if (section === undefined)
      sections.push(limit === undefined ? each : await withLimit(each, limit, format));
    else if (sectionName(each.key) === section) {
      const asked = { ...each, limit: each.limit === 0 ? undefined : each.limit };
      sections.push(limit === undefined ? asked : await withLimit(asked, limit, format));
    }
  const { out } = environment;
  const shown = { ...answer, sections };
  const screen = { width: widthOf(environment), isColoured: takesColours(environment) };
  const texts = {
    table: () => [answerText(shown, screen)],
    markdown: () => markdownTexts(shown),
    json: () => jsonTexts(shown),
    csv: () =>
      sections[0] === undefined
        ? []
        : sectionCsv(sections[0], { spreadsheet, toScreen: out.columns !== undefined }),
  };
  await writeAll(out, texts[format]());
}

async function withLimit(section: Section, limit: number, format: AnswerFlags["format"]): Promise<Section> {
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

const NUMBERS: Readonly<Partial<Record<CellKind, (value: number) => string>>> = {
  count,
  bytes: fileSize,
  milliseconds: (value) => duration(value / 1000),
};

/** Text of a cell for people. Elements of a list with commas are quoted. */
function shownText({ kind }: Pick<AnswerColumn, "kind">, cell: AnswerCell): string {
  if (cell === null) return "";
  if (cell instanceof Date) return minuteOf(cell);
  if (typeof cell === "number") return (NUMBERS[kind] ?? String)(cell);
  if (typeof cell !== "object") return String(cell);
  return cell.map((text) => (/[,"]|^$/.test(text) ? JSON.stringify(text) : text)).join(", ");
}

/** Columns that people see: of those after the first, the ones with any text. `textIn`: text of the cell in a row. */
export function shownColumns({ columns, shows, rows }: Pick<Section, "columns" | "shows" | "rows">) {
  return (shows ?? Object.keys(columns)).flatMap((name, place) => {
    const column = columns[name];
    if (column === undefined) return [];
    const { kind, head = name.replaceAll("_", " "), shown } = column;
    const textIn = (row: SectionRow): string =>
      shownText(column, (shown === undefined ? row[name] : shown(row)) ?? null);
    if (place > 0 && rows.length > 0 && rows.every((row) => textIn(row) === "")) return [];
    return [{ name, kind, head, isFigure: Object.hasOwn(NUMBERS, kind), textIn }];
  });
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
    ...sections.filter(isShown).map((section) => sectionText(section, screen)),
    ...(next.length === 0 ? [] : [next.map((text) => sentence(text, screen)).join("")]),
  ].join("\n");
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
  return `${sentence(title, screen)}${leading}${drawSection(section, some, screen)}${rest}`;
}

const STATUS_COLOURS: Readonly<Record<string, Colour>> = {
  mapped: "green",
  unmapped: "yellow",
  unknown_value: "red",
  empty: "yellow",
  no_value_mapping: "dim",
};

/** A table; if the section is grouped, one under each text of the first column. */
function drawSection(section: Section, some: readonly SectionRow[], screen: ScreenForm): string {
  const { isGrouped = false } = section;
  const [first, ...others] = shownColumns(section);
  if (first === undefined) return "";
  const inTable = isGrouped ? others : [first, ...others];
  const columns = inTable.map(({ head, kind, isFigure }): TextColumn => {
    return {
      name: head,
      align: isFigure ? "right" : "left",
      whole: kind === "name" || kind === "instant",
      paint: screen.isColoured && head === "status" ? paintStatus : undefined,
    };
  });
  const groups = Map.groupBy(some, (row) => (isGrouped ? first.textIn(row) : ""));
  const cells = [...groups].map(([head, rows]) => {
    return [head, rows.map((row) => inTable.map(({ textIn }) => textIn(row)))] as const;
  });
  return drawTables(columns, new Map(cells), { width: screen.width }, section.total ?? section.rows.length);
}

function paintStatus(text: string): string {
  return text.replace(/^\w+/, (status) => {
    const colour = STATUS_COLOURS[status];
    return colour === undefined ? status : painted(colour, status);
  });
}

/** Narrowest text beside names, in cells. */
const LEAST_TEXT = 24;

/** A line for each row: its names, then its text, which continues below itself, or below long names. */
function linesText(section: Section, { width = Number.POSITIVE_INFINITY, isColoured }: ScreenForm): string {
  const shown = shownColumns(section);
  const names = shown.slice(0, -1).map(({ textIn }, at) => {
    const cells = section.rows.map((row) => printableText(textIn(row)));
    const nameWidth = Math.max(at === shown.length - 2 ? 10 : 0, ...cells.map(displayWidth));
    return cells.map((cell) => cell + " ".repeat(nameWidth - displayWidth(cell)));
  });
  return section.rows
    .map((row, index) => {
      const start = `  ${names.map((cells) => cells[index]).join("  ")} `;
      const text = shown.at(-1)?.textIn(row) ?? "";
      const isBelow = width - displayWidth(start) < LEAST_TEXT;
      const line = isBelow
        ? `${start.trimEnd()}\n${indented("    ", text, width)}`
        : indented(start, text, width);
      if (!isColoured) return line;
      const name = start.trim();
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

type Colour = "green" | "yellow" | "red" | "dim";

function painted(colour: Colour, text: string): string {
  return styleText(colour, text, { validateStream: false });
}

/** Second-level headings with tables, for a page or a ticket. */
async function* markdownTexts({ lead, sections, next = [] }: Answer): AsyncIterable<string> {
  const shown = sections.filter((each) => isShown({ ...each, limit: 1 }));
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
  yield `\n${markdownRow(shown.map(({ head }) => head))}`;
  yield markdownRow(shown.map(({ isFigure }) => (isFigure ? "---:" : "---")));
  const cell = isLines ? markdownSentence : markdownText;
  yield* rowTexts(allRows(section), (row) => markdownRow(shown.map(({ textIn }) => cell(textIn(row)))));
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
    const names = Object.keys(section.columns);
    yield `${before}${JSON.stringify(section.key)}:`;
    yield* jsonArray(allRows(section), (row) =>
      jsonText(Object.fromEntries(names.map((name) => [name, exactCell(row[name])]))),
    );
    before = ",\n";
  }
  yield "}\n";
}

function sectionCsv(section: Section, form: Parameters<typeof csvTexts>[3]): AsyncIterable<string> {
  const names = Object.entries(section.columns).flatMap(([name, { isWords }]) => (isWords ? [] : [name]));
  const cellText = (cell: ReturnType<typeof exactCell>) => {
    if (cell === null) return null;
    return typeof cell === "object" ? jsonText(cell) : String(cell);
  };
  const cells = (row: SectionRow) => names.map((name) => cellText(exactCell(row[name])));
  return csvTexts(allRows(section), names, cells, form);
}

/** A cell for programs, with instants such as `2026-11-20T02:00:00Z`. */
function exactCell(cell: AnswerCell = null) {
  return cell instanceof Date ? cell.toISOString().replace(".000Z", "Z") : cell;
}

async function* allRows(section: Section): AsyncIterable<readonly SectionRow[]> {
  if (section.every === undefined) yield section.rows;
  else yield* section.every();
}
