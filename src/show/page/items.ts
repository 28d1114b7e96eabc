/** The search of items: the page's script fills it from the rows that the page brings along. */
import type { ReportedItems } from "../../audit/questions/items.ts";
import { count, counted } from "../../common/figures.ts";
import { html, type Markup } from "./markup.ts";

export function itemsMarkup({ total, ids: { size: shown } }: ReportedItems): Markup {
  const none = total === 0 ? "The service listed no item." : "There was no room for an item in this page.";
  return html`${shown > 0 ? SEARCH : html`<p class="empty">${none}</p>`}
${shown < total && html`<p class="note">The page holds ${counted(shown, "item")} of ${count(total)}, those that need attention most first. <code>content-warehouse explain ITEM</code> answers for the others.</p>`}
`;
}

const SEARCH = html`<noscript><p class="note">The search of items needs the script of this page, which this browser does not run. All else is here, and <code>content-warehouse explain ITEM</code> answers for each item.</p></noscript>
<form id="search" role="search" aria-label="Items" hidden>
<label for="words">Title, ID, content type, field, value, destination or status</label>
<input id="words" type="search" autocomplete="off" spellcheck="false">
</form>
<p id="found" role="status" class="note"></p>
<div class="scroll" id="item-table" role="group" tabindex="0" aria-label="Items that were found" hidden><table>
<caption class="visually-hidden">Items</caption>
<thead><tr><th scope="col">title</th><th scope="col">type</th><th scope="col">published</th><th scope="col" class="number">values</th><th scope="col" class="number">without external value, receiving</th></tr></thead>
<tbody id="item-rows"></tbody>
</table></div>
<p><button id="more" type="button" hidden>Show more</button></p>
<dialog id="item" aria-labelledby="item-title"></dialog>`;
