/** The items: what is asked for is put together in the page, from the data that it brings along. */
import { count, counted } from "../../common/figures.ts";
import { leftOutSql, type ReportItems } from "./items.ts";
import { html, type Markup, sql } from "./markup.ts";

export function itemsSection({ total, shown }: ReportItems): Markup {
  return html`<section id="items" aria-labelledby="items-title">
<h2 id="items-title">Items</h2>
${shown === 0 ? nothing(total) : search()}
${shown < total && leftOut(total, shown)}
</section>`;
}

function nothing(total: number): Markup {
  return total === 0
    ? html`<p class="empty">The service listed no item.</p>`
    : html`<p class="empty">There was no room for an item in this page.</p>`;
}

function search(): Markup {
  return html`<noscript><p class="note">The search of items needs the script of this page, which this browser does not run. All else is here, and <code>content-warehouse explain</code> answers for each item.</p></noscript>
<form id="filters" role="search" aria-label="Items" hidden>
<p class="field wide-field"><label for="filter-text">Title or ID</label><input id="filter-text" type="search" autocomplete="off" spellcheck="false"></p>
<p class="field"><label for="filter-type">Content type</label><select id="filter-type"><option value="">any</option></select></p>
<p class="field"><label for="filter-destination">Destination</label><select id="filter-destination"><option value="">any</option></select></p>
<p class="field"><label for="filter-field">Custom field</label><select id="filter-field"><option value="">any</option></select></p>
<p class="field"><label for="filter-value">Value</label><input id="filter-value" type="search" autocomplete="off" spellcheck="false" list="values"></p>
<p class="field"><label for="filter-status">Status</label><select id="filter-status"><option value="">any</option></select></p>
<p class="field action"><button type="reset">Clear</button></p>
<datalist id="values"></datalist>
</form>
<p id="found" role="status" class="note"></p>
<div id="item-table" class="scroll" role="region" aria-label="Items" tabindex="0" hidden><table>
<caption class="visually-hidden">Items, those that need attention most first. A title opens what each destination receives.</caption>
<thead><tr><th scope="col">Title</th><th scope="col">Type</th><th scope="col">Published</th><th scope="col" class="number">Values</th><th scope="col">Without external value</th></tr></thead>
<tbody id="item-rows"></tbody>
</table></div>
<p><button id="more" type="button" hidden>Show more</button></p>
<dialog id="item" aria-labelledby="item-title"></dialog>`;
}

function leftOut(total: number, shown: number): Markup {
  return html`<p class="note">The page holds ${counted(shown, "item")} of ${count(total)}, those that need attention most first. The other ${count(total - shown)} are left to SQL:</p>${sql(leftOutSql(shown))}`;
}
