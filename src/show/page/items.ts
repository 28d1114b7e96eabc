/** The search of items; what is asked for is put together in the page, from the data that it brings along. */
import { WITHOUT_EXTERNAL_VALUE_SQL } from "../../audit/mapping/mapped-value.ts";
import type { PackedItems } from "../../audit/questions/items.ts";
import { count, counted } from "../../common/figures.ts";
import { quoteLiteral } from "../../storage/sql-text.ts";
import { html, type Markup } from "./markup.ts";

export function itemsMarkup({ total, shown, apart }: PackedItems): Markup {
  const none = total === 0 ? "The service listed no item." : "There was no room for an item in this page.";
  return html`${shown > 0 ? SEARCH : html`<p class="empty">${none}</p>`}
${shown < total && html`<p class="note">The page holds ${counted(shown, "item")} of ${count(total)}, those that need attention most first. The other ${count(total - shown)}, in SQL:</p><pre><code>${leftOutSql(shown, apart)}</code></pre>`}
`;
}

/** The items that the page leaves out, in its order. */
function leftOutSql(shown: number, apart: readonly string[]): string {
  const receiving =
    apart.length === 0 ? "" : ` AND mapped.destination_id NOT IN (${apart.map(quoteLiteral).join(", ")})`;
  return `SELECT content.content_id, content.title,
  count_if(mapped.status IN (${WITHOUT_EXTERNAL_VALUE_SQL})${receiving}) AS without_external_value_receiving,
  count_if(mapped.value_archived OR mapped.ambiguous OR mapped.collision) AS flagged
FROM content LEFT JOIN content_mapped_values AS mapped USING (content_id)
GROUP BY ALL
ORDER BY without_external_value_receiving DESC, flagged DESC, content.content_id
OFFSET ${shown}`;
}

function choice(key: string, name: string): Markup {
  return html`<p><label for="filter-${key}">${name}</label><select id="filter-${key}"><option value="">any</option></select></p>
`;
}

const SEARCH = html`<noscript><p class="note">The search of items needs the script of this page, which this browser does not run. All else is here, and <code>content-warehouse explain</code> answers for each item.</p></noscript>
<form id="filters" role="search" aria-label="Items" hidden>
<p><label for="filter-text">Title or ID</label><input id="filter-text" type="search" autocomplete="off" spellcheck="false"></p>
${choice("type", "Content type")}${choice("destination", "Destination")}${choice("field", "Custom field")}<p><label for="filter-value">Value</label><input id="filter-value" type="search" autocomplete="off" spellcheck="false" list="values"></p>
${choice("status", "Status")}${choice("changed", "Changed")}<p><button type="reset">Clear</button></p>
<datalist id="values"></datalist>
</form>
<div class="answer-head"><p id="found" role="status" class="note"></p><p class="tools"><button id="items-csv" type="button" aria-label="CSV: Items" hidden>CSV</button></p></div>
<table id="item-table" hidden>
<caption class="visually-hidden">Items, those that need attention most first. A title opens what each destination receives.</caption>
<thead><tr><th scope="col">title</th><th scope="col">type</th><th scope="col">published</th><th scope="col" class="number">values</th><th scope="col" class="most-first">without external value, receiving</th></tr></thead>
<tbody id="item-rows"></tbody>
</table>
<p><button id="more" class="more" type="button" hidden>Show more</button></p>
<dialog id="item" aria-labelledby="item-title"></dialog>`;
