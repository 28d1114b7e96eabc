/** A section of an answer as a table within what a click unfolds. */
import { WITHOUT_EXTERNAL_VALUE } from "../../audit/mapping/mapped-value.ts";
import type { Cell, Column, Section } from "../../common/answer.ts";
import { counted } from "../../common/figures.ts";
import { headOf, isNumber, shownColumns, shownText } from "../answer.ts";
import { foreign, html, type Markup, type Part, sentence } from "./markup.ts";

/** Rows of a table in a page; the command that gives the same answer has all. */
export const ROWS_LIMIT = 500;

/** A table of more rows is folded at first. */
const ROWS_OPEN = 10;

export interface Drawn {
  /** Address of the section. */
  readonly id: string;
  /** The command that gives the same answer. */
  readonly command: string;
  /** Whether it is the only section below its heading. */
  readonly isAlone: boolean;
  /** Items that the page has: the ID of one opens it. */
  readonly linked?: ReadonlySet<string> | undefined;
  /** Rows at most; undefined: {@link ROWS_LIMIT}. */
  readonly rowsLimit?: number | undefined;
}

/** The table of a section below its title, or what there is to say without rows. */
export function sectionMarkup(section: Section, drawn: Drawn): Markup {
  const { title, lead, none = "none", rows, total = rows.length, all = "--format json", limit } = section;
  const { id, command, isAlone, rowsLimit = ROWS_LIMIT } = drawn;
  if (rows.length === 0) return html`<p class="empty" id="${id}">${!isAlone && `${title}: `}${none}</p>\n`;
  const more = total - Math.min(rows.length, rowsLimit);
  const isOpen = limit !== 0 && total <= ROWS_OPEN;
  return html`<details class="answer" id="${id}"${isOpen && html` open`}>
<summary><h3>${title}</h3> <span class="note">${counted(total, "row")}</span></summary>
${lead !== undefined && html`<p class="lead">${sentence(lead)}</p>\n`}<p class="note"><a href="#${id}">Link to this section</a></p>
<div class="scroll" role="group" tabindex="0" aria-label="${title}">${table(section, drawn)}</div>
${more > 0 && html`<p class="note">${counted(more, "more row")}: <code>content-warehouse ${command} ${all}</code> has all.</p>`}
</details>
`;
}

function table(section: Section, { linked, rowsLimit = ROWS_LIMIT }: Drawn): Markup {
  const { title, rows } = section;
  const shown = shownColumns(section).filter(([, { notOnPage }]) => notOnPage !== true);
  // What a row is: the first column that is no figure.
  const head = shown.find(([, column]) => !isNumber(column))?.[0];
  const heads = shown.map(
    ([name, column]) => html`<th scope="col"${figureClass(column)}>${headOf(name, column)}</th>`,
  );
  const lines = rows.slice(0, rowsLimit).map((row) => {
    const cells = shown.map(([name, column]) => {
      const value = row[name] ?? null;
      const text = value === null ? standIn(row[column.standIn ?? ""] ?? null) : cellMarkup(column, value);
      const isLinked = name === "content_id" && linked?.has(String(value)) === true;
      const content = isLinked
        ? html`<a href="#item=${encodeURIComponent(String(value))}">${text}</a>`
        : text;
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

function figureClass(column: Column): Markup | false {
  return isNumber(column) && html` class="number"`;
}

/** What JSON has, where the cell shows it otherwise. */
function exactValue(column: Column, value: Cell): Markup | false {
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

function cellMarkup(column: Column, value: NonNullable<Cell>): Part {
  const text = shownText(column, value);
  if (column.judged === true && POOR.has(text)) return html`<span class="poor">${text}</span>`;
  if (column.kind === "name") return html`<code>${foreign(text)}</code>`;
  return typeof value === "string" || column.kind === "list" ? foreign(text) : text;
}
