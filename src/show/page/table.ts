/** A section of an answer as a table that the page's script sorts, searches and writes as CSV. */
import type { Cell, Column, Section } from "../../common/answer.ts";
import { counted } from "../../common/figures.ts";
import { headOf, isNumber, shownColumns, shownText } from "../answer.ts";
import { foreign, html, type Markup, type Part, sentence } from "./markup.ts";

/** Rows of a table in a page; the command that gives the same answer has all. */
export const ROWS_LIMIT = 500;

/** Rows of a table before it is unfolded, at most. */
const ROWS_SHOWN = 20;

export interface Drawn {
  /** Address of the section. */
  readonly id: string;
  /** The command that gives the same answer. */
  readonly command: string;
  /** Whether the part has no other section: its title says it all. */
  readonly isAlone: boolean;
  /** Columns whose figures have bars. */
  readonly bars?: readonly string[] | undefined;
  /** Items that the page has: the ID of one opens it. */
  readonly linked?: ReadonlySet<string> | undefined;
}

/** The table of a section below its title, or what there is to say without rows. */
export function sectionMarkup(section: Section, drawn: Drawn): Markup {
  const { title, lead, none = "none", rows, total = rows.length, all = "--format json", limit } = section;
  const { id, command, isAlone } = drawn;
  if (rows.length === 0) return html`<p class="empty" id="${id}">${!isAlone && `${title}: `}${none}</p>\n`;
  const more = total - Math.min(rows.length, ROWS_LIMIT);
  const heading = html`<h3${isAlone && html` class="visually-hidden"`}>${title}</h3>`;
  const said = lead !== undefined && html`<p class="lead">${sentence(lead)}</p>`;
  const body = html`${table(section, drawn)}
${more > 0 && html`<p class="note">${counted(more, "more row")}: <code>content-warehouse ${command} ${all}</code> has all.</p>`}
`;
  // What a screen does not get is folded.
  if (limit === 0) {
    return html`<details class="answer" id="${id}" data-limit="${ROWS_SHOWN}">
<summary>${heading} <span class="note">${counted(total, "row")}</span></summary>
<div class="answer-head"><div>${said}</div></div>
${body}</details>
`;
  }
  return html`<div class="answer" id="${id}" data-limit="${Math.min(limit ?? ROWS_SHOWN, ROWS_SHOWN)}">
<div class="answer-head"><div>${heading}${said}</div></div>
${body}</div>
`;
}

function table(section: Section, { bars = [], linked }: Drawn): Markup {
  const { title, rows } = section;
  const shown = shownColumns(section);
  // What a row is: the first column that is no figure.
  const head = shown.find(([, column]) => !isNumber(column))?.[0];
  const most = new Map(bars.map((name) => [name, Math.max(...rows.map((row) => Number(row[name] ?? 0)))]));
  const heads = shown.map(
    ([name, column]) => html`<th scope="col"${figureClass(column)}>${headOf(name, column)}</th>`,
  );
  const lines = rows.slice(0, ROWS_LIMIT).map((row) => {
    const cells = shown.map(([name, column]) => {
      const bar = most.has(name) && barMarkup(Number(row[name] ?? 0), most.get(name) ?? 0);
      const value = row[name] ?? null;
      const text =
        value === null ? standIn(row[column.standIn ?? ""] ?? null) : cellMarkup(name, column, value);
      const isLinked = name === "content_id" && linked?.has(String(value)) === true;
      const content = isLinked
        ? html`<a href="#item=${encodeURIComponent(String(value))}">${text}</a>`
        : text;
      if (name === head) return html`<th scope="row">${content}</th>`;
      return html`<td${figureClass(column)}${rawValue(value)}>${bar}${content}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  return html`<div class="scroll" role="region" aria-label="Table: ${title}" tabindex="0"><table>
<caption class="visually-hidden">${title}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>${lines}</tbody>
</table></div>`;
}

function figureClass(column: Column): Markup | false {
  return isNumber(column) && html` class="number"`;
}

/** What the page sorts by and writes as CSV, where the cell shows it otherwise. */
function rawValue(value: Cell): Markup | false {
  if (typeof value === "number") return html` data-value="${value}"`;
  return value instanceof Date && html` data-value="${value.toISOString()}"`;
}

function standIn(value: Cell): Part {
  return value !== null && html`<code>${foreign(String(value))}</code>`;
}

/** Words whose meaning has a colour. */
const STATES = ["status", "verdict"];

function cellMarkup(name: string, column: Column, value: NonNullable<Cell>): Part {
  const text = shownText(column, value);
  if (STATES.includes(name) && /^[a-z_]+$/.test(text))
    return html`<span class="status ${text}">${text}</span>`;
  if (column.kind === "name") return html`<code>${foreign(text)}</code>`;
  return typeof value === "string" || column.kind === "list" ? foreign(text) : text;
}

/** As long as the figure is large beside the largest of its column. */
function barMarkup(value: number, most: number): Markup {
  const width = most === 0 ? 0 : Math.round((value / most) * 60);
  return html`<svg class="bar" viewBox="0 0 60 8" width="60" height="8" aria-hidden="true"><rect width="${width}" height="8" rx="1"/></svg>`;
}
