/** Tables as the page has them: a caption, heads, and a region that scrolls by itself where they are wide. */
import { html, type Markup, type Part } from "./markup.ts";

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => Part;
  readonly kind?: "number" | "head" | "text";
}

export interface TableOf<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
}

export function table<T>({ caption, columns, rows }: TableOf<T>): Markup {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption class="visually-hidden">${caption}</caption>
<thead><tr>${columns.map(({ head, kind }) => html`<th scope="col"${kind === "number" ? NUMBER : ""}>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map((column) => cell(column, row))}</tr>\n`)}</tbody>
</table></div>`;
}

const NUMBER = html` class="number"`;

function cell<T>({ cell, kind }: Column<T>, row: T): Markup {
  if (kind === "head") return html`<th scope="row">${cell(row)}</th>`;
  return html`<td${kind === "number" ? NUMBER : ""}>${cell(row)}</td>`;
}

/** SQL that can be selected and copied. */
export function sql(text: string): Markup {
  return html`<pre class="sql" tabindex="0"><code>${text}</code></pre>`;
}
