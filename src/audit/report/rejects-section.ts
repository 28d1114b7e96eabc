/** What was loaded and what could not be read, with the reasons. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { count, counted } from "../../common/figures.ts";
import { integer, rowsOf } from "../rows.ts";
import type { Account } from "./account.ts";
import { type Column, foreign, html, type Markup, sql, table } from "./markup.ts";

const rejectRow = z.object({
  mode: z.string(),
  page: integer.nullable(),
  position: integer.nullable(),
  contentId: z.string().nullable(),
  reason: z.string(),
  /** Rejects of the run. */
  total: integer,
});
type Reject = Readonly<z.output<typeof rejectRow>>;

const ROWS_SHOWN = 200;

/** The first ones, each with the number of all. */
export function readRejects(connection: DuckDBConnection): Promise<Reject[]> {
  return rowsOf(
    connection,
    rejectRow,
    `SELECT mode, page, position, content_id, reason, count(*) OVER () AS total
     FROM run_rejects ORDER BY reject LIMIT ${ROWS_SHOWN}`,
  );
}

export function rejectsSection(account: Account, rejects: readonly Reject[]): Markup {
  const { itemsListed, itemsLoaded, itemsRejected } = account;
  const total = rejects[0]?.total ?? 0;
  const isNone = total === 0 && itemsRejected === 0;
  return html`<section id="rejects" aria-labelledby="rejects-title">
<h2 id="rejects-title">Loaded and rejected</h2>
<p class="lead">${counted(itemsListed, "item")} listed, ${count(itemsLoaded)} loaded, ${count(itemsRejected)} rejected.</p>
${
  isNone
    ? html`<p class="empty">No document was rejected.</p>`
    : html`<p class="note">Each reading that failed, ${count(total)} in all. <code>content-warehouse rejects retry</code> asks the service for them again.</p>
${table({ caption: "Documents that were rejected", columns: COLUMNS, rows: rejects })}
${total > rejects.length && html`<p class="note">The other ${count(total - rejects.length)}, in SQL:</p>${sql(`FROM run_rejects ORDER BY reject OFFSET ${rejects.length}`)}`}`
}
</section>`;
}

const COLUMNS: readonly Column<Reject>[] = [
  {
    head: "Item",
    cell: ({ contentId }) =>
      contentId === null ? html`<em>unknown</em>` : html`<code>${foreign(contentId)}</code>`,
    kind: "head",
  },
  { head: "Mode", cell: ({ mode }) => mode },
  { head: "Page", cell: ({ page }) => (page === null ? "" : count(page)), kind: "number" },
  { head: "Position", cell: ({ position }) => (position === null ? "" : count(position)), kind: "number" },
  { head: "Reason", cell: ({ reason }) => foreign(reason) },
];
