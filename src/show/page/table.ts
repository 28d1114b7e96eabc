/** A section of an answer as a table within what a click unfolds. */
import { WITHOUT_EXTERNAL_VALUE } from "../../audit/mapped-value.ts";
import type { AnswerCell, AnswerColumn, Section } from "../../common/answer.ts";
import { pluralize } from "../../common/figures.ts";
import { headOf, isNumber, shownColumns, shownText } from "../answer.ts";
import { cut, foreign, html, type Markup, type Part, sentence } from "./markup.ts";

/** Rows of a table in a page; the command that gives the same answer has all. */
export const ROWS_LIMIT = 500;
/** Longest text of a cell, in characters. */
const TEXT_LIMIT = 300;

/**
 * The table of a section below its title, or what there is to say without rows. `id`: address of the section; `command`:
 * gives the same answer.
 */
export function sectionMarkup(section: Section, id: string, command: string): Markup {
  const { title, lead, none = "none", rows, total = rows.length, all = "--format json" } = section;
  if (rows.length === 0) return html`<p class="note" id="${id}">${title}: ${none}</p>\n`;
  const shown = rows.slice(0, Math.min(total, ROWS_LIMIT));
  const more = total - shown.length;
  return html`<details class="answer" id="${id}">
<summary><h3>${title}</h3> <span class="note">${pluralize(total, "row")}</span></summary>
${lead !== undefined && html`<p class="lead">${sentence(lead)}</p>\n`}<p class="note"><a href="#${id}">Link to this section</a></p>
<div class="scroll" role="group" tabindex="0" aria-label="${title}">${table({ ...section, rows: shown })}</div>
${more > 0 && html`<p class="note">${pluralize(more, "more row")}: <code>content-warehouse ${command} ${all}</code> has all.</p>`}
</details>
`;
}

function table(section: Section): Markup {
  const { title, rows } = section;
  const shown = shownColumns(section).filter(([, { head }]) => head !== "");
  // What a row is: the first column that is no figure.
  const head = shown.find(([, column]) => !isNumber(column))?.[0];
  const heads = shown.map(
    ([name, column]) => html`<th scope="col"${figureClass(column)}>${headOf(name, column)}</th>`,
  );
  const lines = rows.map((row) => {
    const cells = shown.map(([name, column]) => {
      const value = row[name] ?? null;
      const text = value === null ? standIn(row[column.standIn ?? ""] ?? null) : cellMarkup(column, value);
      const isItem = name === "content_id" && value !== null;
      const content = isItem ? html`<a href="#item=${encodeURIComponent(String(value))}">${text}</a>` : text;
      if (name === head) return html`<th scope="row"${figureClass(column)}>${content}</th>`;
      return html`<td${figureClass(column)}${exactValue(column, value)}>${content}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  return html`<table>
<caption class="visually-hidden">${title}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>${lines}</tbody>
</table>`;
}

function figureClass(column: AnswerColumn): Markup | false {
  return isNumber(column) && html` class="number"`;
}

/** What JSON has, where the cell shows it otherwise. */
function exactValue(column: AnswerColumn, value: AnswerCell): Markup | false {
  if (value instanceof Date) return html` data-value="${value.toISOString()}"`;
  return typeof value === "number" && shownText(column, value) !== `${value}` && html` data-value="${value}"`;
}

function standIn(value: AnswerCell): Part {
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

function cellMarkup(column: AnswerColumn, value: NonNullable<AnswerCell>): Part {
  const text = cut(shownText(column, value), TEXT_LIMIT);
  if (column.judged === true && POOR.has(text)) return html`<span class="poor">${text}</span>`;
  if (column.kind === "name") return html`<code>${foreign(text)}</code>`;
  return typeof value === "string" || column.kind === "list" ? foreign(text) : text;
}
