/** A section of an answer as a folded table. */
import { WITHOUT_EXTERNAL_VALUE } from "../../audit/mapped-value.ts";
import type { AnswerCell, AnswerColumn, Section } from "../../common/answer.ts";
import { pluralize } from "../../common/figures.ts";
import { headOf, isNumber, shownColumns, shownText } from "../answer.ts";
import { cut, foreign, html, type Markup, type MarkupValue, sentence } from "./markup.ts";

/** Most rows of a table in the page. */
export const ROWS_LIMIT = 500;

/** `id`: address of the section in the page; `command`: gives the same answer with all rows. */
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
  const rowHead = shown.find(([, column]) => !isNumber(column))?.[0];
  const heads = shown.map(
    ([name, column]) => html`<th scope="col"${figureClass(column)}>${headOf(name, column)}</th>`,
  );
  const lines = rows.map((row) => {
    const cells = shown.map(([name, column]) => {
      const value = row[name] ?? null;
      const other = row[column.standIn ?? ""] ?? null;
      const standIn = other !== null && html`<code>${foreign(String(other))}</code>`;
      const text = value === null ? standIn : cellMarkup(column, value);
      const isItem = name === "content_id" && value !== null;
      const content = isItem ? html`<a href="#item=${encodeURIComponent(String(value))}">${text}</a>` : text;
      if (name === rowHead) return html`<th scope="row"${figureClass(column)}>${content}</th>`;
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

/** The value as JSON has it, if the cell shows another text. */
function exactValue(column: AnswerColumn, value: AnswerCell): Markup | false {
  if (value instanceof Date) return html` data-value="${value.toISOString()}"`;
  return typeof value === "number" && shownText(column, value) !== `${value}` && html` data-value="${value}"`;
}

/** Words that the page marks. */
const POOR: ReadonlySet<string> = new Set([
  ...WITHOUT_EXTERNAL_VALUE,
  "unsettled",
  "limited",
  "warning",
  "failed",
]);

function cellMarkup(column: AnswerColumn, value: NonNullable<AnswerCell>): MarkupValue {
  const text = cut(shownText(column, value), 300);
  if (column.judged === true && POOR.has(text)) return html`<span class="poor">${text}</span>`;
  if (column.kind === "name") return html`<code>${foreign(text)}</code>`;
  return typeof value === "string" || column.kind === "list" ? foreign(text) : text;
}
