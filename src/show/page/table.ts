/** A section of an answer as a table that the page's script sorts, searches and writes as CSV. */
import { WITHOUT_EXTERNAL_VALUE } from "../../audit/mapping/mapped-value.ts";
import type { Cell, Column, Section } from "../../common/answer.ts";
import { count, counted } from "../../common/figures.ts";
import { headOf, isNumber, shownCell, shownColumns, shownText } from "../answer.ts";
import { foreign, heading, html, type Markup, type Part, sentence } from "./markup.ts";

/** Rows of a table in a page; the command that gives the same answer has all. */
export const ROWS_LIMIT = 500;

/** Rows of a table before it is unfolded, at most. */
const ROWS_SHOWN = 20;

export interface Drawn {
  /** Address of the section. */
  readonly id: string;
  /** The command that gives the same answer. */
  readonly command: string;
  /** Whether the title above it says it all. */
  readonly isNamed: boolean;
  readonly charts?: Charts | undefined;
  /** Items that the page has: the ID of one opens it. */
  readonly linked?: ReadonlySet<string> | undefined;
}

/**
 * What is drawn beside the figures of a column, by its name: `length` for a quantity, from zero; `place` for one figure
 * over time, between the lowest and the highest, which stand below.
 */
export type Charts = Readonly<Record<string, "length" | "place">>;

/** The table of a section below its title, or what there is to say without rows. */
export function sectionMarkup(section: Section, drawn: Drawn): Markup {
  const { title, lead, none = "none", rows, total = rows.length, all = "--format json", limit } = section;
  const { id, command, isNamed } = drawn;
  if (rows.length === 0) return html`<p class="empty" id="${id}">${!isNamed && `${title}: `}${none}</p>\n`;
  const more = total - Math.min(rows.length, ROWS_LIMIT);
  const body = html`${table(section, drawn)}
${more > 0 && html`<p class="note">${counted(more, "more row")}: <code>content-warehouse ${command} ${all}</code> has all.</p>`}
`;
  // What a screen does not get is folded.
  if (limit === 0) {
    return html`<details class="answer" id="${id}" data-limit="${ROWS_SHOWN}">
<summary><h3>${title}</h3> <span class="note">${counted(total, "row")}</span>${lead !== undefined && html`<span class="lead">${sentence(lead)}</span>`}</summary>
<div class="answer-head"></div>
${body}</details>
`;
  }
  const head = isNamed ? html`<h3 class="visually-hidden">${title}</h3>` : heading("h3", id, title);
  return html`<div class="answer" id="${id}" data-limit="${Math.min(limit ?? ROWS_SHOWN, ROWS_SHOWN)}">
<div class="answer-head"><div>${head}${lead !== undefined && html`<p class="lead">${sentence(lead)}</p>`}</div></div>
${body}</div>
`;
}

function table(section: Section, { charts = {}, linked }: Drawn): Markup {
  const { title, rows } = section;
  const shown = shownColumns(section);
  // What a row is: the first column that is no figure.
  const head = shown.find(([, column]) => !isNumber(column))?.[0];
  const scales = new Map(
    Object.entries(charts).flatMap(([name, chart]) => {
      const scale = scaleOf(chart, figuresIn(rows, name));
      return scale === undefined ? [] : [[name, scale] as const];
    }),
  );
  const heads = shown.map(
    ([name, column]) => html`<th scope="col"${figureClass(column)}>${headOf(name, column)}</th>`,
  );
  const lines = rows.slice(0, ROWS_LIMIT).map((row) => {
    const cells = shown.map(([name, column]) => {
      const value = row[name] ?? null;
      const text =
        value === null ? standIn(row[column.standIn ?? ""] ?? null) : cellMarkup(name, column, value);
      const isLinked = name === "content_id" && linked?.has(String(value)) === true;
      const content = isLinked
        ? html`<a href="#item=${encodeURIComponent(String(value))}">${text}</a>`
        : text;
      if (name === head) return html`<th scope="row"${cellClass(column, value)}>${content}</th>`;
      const chart = typeof value === "number" && scales.get(name)?.chart(value);
      return html`<td${cellClass(column, value)}${rawValue(column, value)}>${content}${chart}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  const ends = shown.map(([name, column]) => {
    if (name === head) return html`<th scope="row">scale</th>`;
    return html`<td${figureClass(column)}>${scales.get(name)?.ends}</td>`;
  });
  const hasEnds = [...scales.values()].some(({ ends }) => ends !== undefined);
  return html`<table${keepsWords(section) && html` class="words"`}>
<caption class="visually-hidden">${title}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>${lines}</tbody>
${hasEnds && html`<tfoot><tr>${ends}</tr></tfoot>\n`}</table>`;
}

/** Characters beside each other on the narrowest screen that does not have each row as lines of its own. */
const CHARACTERS = 110;
/** A word that is longer, in characters, is broken where there is no room for it. */
const WORD_LENGTH = 26;

/** Whether the longest words of all columns fit beside each other, so that none is broken but the longest. */
function keepsWords(section: Section): boolean {
  const longest = shownColumns(section).map(([name, column]) => {
    const texts = section.rows.slice(0, ROWS_LIMIT).map((row) => shownCell(section, name, row));
    const lengths = [headOf(name, column), ...texts].map(longestWord);
    return Math.max(...lengths.filter((length) => length <= WORD_LENGTH));
  });
  return longest.reduce((sum, length) => sum + length, 0) <= CHARACTERS;
}

function longestWord(text: string): number {
  return text.split(/\s+/).reduce((most, { length }) => Math.max(most, length), 0);
}

function figureClass(column: Column): Markup | false {
  return isNumber(column) && html` class="number"`;
}

function cellClass(column: Column, value: Cell): Markup | false {
  if (isNumber(column)) return html` class="number${value === 0 && " zero"}"`;
  return longestWord(shownText(column, value)) > WORD_LENGTH && html` class="long"`;
}

/** What the page sorts by and writes as CSV, where the cell shows it otherwise. */
function rawValue(column: Column, value: Cell): Markup | false {
  if (value instanceof Date) return html` data-value="${value.toISOString()}"`;
  return typeof value === "number" && shownText(column, value) !== `${value}` && html` data-value="${value}"`;
}

function standIn(value: Cell): Part {
  return value !== null && html`<code>${foreign(String(value))}</code>`;
}

/** Words that need attention. */
const POOR: ReadonlySet<string> = new Set([
  ...WITHOUT_EXTERNAL_VALUE,
  "unsettled",
  "limited",
  "warning",
  "failed",
]);

/** Words such as `mapping_changed`, which a narrow column breaks between their parts. */
const CAUSES_TOLD = /^[a-z]+_[a-z]+(, [a-z_]+)*$/;

function inWords(text: string): Markup {
  return html`${text.split(/(?<=_)/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}`;
}

function cellMarkup(name: string, column: Column, value: NonNullable<Cell>): Part {
  const text = shownText(column, value);
  if (["status", "verdict"].includes(name) && POOR.has(text)) return html`<span class="poor">${text}</span>`;
  if (column.kind === "name")
    return html`<code>${CAUSES_TOLD.test(text) ? inWords(text) : foreign(text)}</code>`;
  return typeof value === "string" || column.kind === "list" ? foreign(text) : text;
}

function figuresIn(rows: Section["rows"], name: string): number[] {
  return rows.map((row) => row[name]).filter((value) => typeof value === "number");
}

interface Scale {
  chart(value: number): Markup;
  /** What its ends are; undefined: it begins at zero. */
  readonly ends: string | undefined;
}

/** Undefined: there is nothing to draw. */
function scaleOf(chart: Charts[string], figures: readonly number[]): Scale | undefined {
  const [least, most] = [Math.min(...figures), Math.max(...figures)];
  if (chart === "length") {
    if (most === 0) return undefined;
    return {
      chart: (value) => svg(html`<rect width="${part(value / most)}" height="8" rx="1"/>`),
      ends: undefined,
    };
  }
  if (figures.length < 2 || least === most) return undefined;
  return {
    chart: (value) =>
      svg(html`<path d="M0 4h60"/><circle cx="${part((value - least) / (most - least))}" cy="4" r="3"/>`),
    ends: `${count(least)} to ${count(most)}`,
  };
}

const part = (share: number) => Math.round(share * 60);

function svg(drawing: Markup): Markup {
  return html`<svg class="chart" viewBox="-3 0 66 8" width="66" height="8" aria-hidden="true">${drawing}</svg>`;
}
