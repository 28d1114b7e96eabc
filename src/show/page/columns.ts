/** The catalogue of columns: packed, all texts once, for the page's script to make rows of that are searched. */
import type { RunColumn } from "../../audit/run-columns.ts";
import { count, counted } from "../../common/figures.ts";
import { dataIsland, html } from "./markup.ts";
import { type PagePart, partOf } from "./page.ts";

/** Of the packed columns: those of the package take 60,000, and each custom field about 100 more. */
const BYTES_LIMIT = 150_000;

const HEADS = ["column", "table", "type", "comment", "from"];

export function columnsPart(columns: readonly RunColumn[]): PagePart {
  const packed = pack(columns, BYTES_LIMIT);
  const more = columns.length - packed.rows.length;
  const tables = new Set(columns.map(({ table }) => table)).size;
  const lead = `${counted(columns.length, "column")} of ${count(tables)} tables and views, with the API fields that each comes from.`;
  const picture = html`<noscript><p class="note">The columns need the script of this page, which this browser does not run; <code>content-warehouse schema</code> has those of the package.</p></noscript>
<div class="answer" id="columns-columns" data-limit="10" hidden>
<div class="answer-head"><div><h3 class="visually-hidden">Columns</h3><p class="lead">${lead}</p></div></div>
<table class="words">
<caption class="visually-hidden">Columns</caption>
<thead><tr>${HEADS.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody></tbody>
</table>
<script type="application/json">${dataIsland(JSON.stringify(packed))}</script>
${more > 0 && html`<p class="note">${counted(more, "more column")}: <code>DESCRIBE</code> in <code>content-warehouse sql</code> has those of each table and view.</p>`}
</div>
`;
  return { ...partOf("columns", "Columns", "schema", []), picture };
}

/** Rows of numbers of texts, as many as there is room for. */
function pack(columns: readonly RunColumn[], bytesLimit: number) {
  const numbers = new Map<string, number>();
  const rows: number[][] = [];
  let bytes = 0;
  for (const { table, column, type, comment, origins } of columns) {
    const row = [column, table, type, comment ?? "", origins.join(", ")].map((text) => {
      const number = numbers.get(text) ?? numbers.size;
      if (number === numbers.size) bytes += Buffer.byteLength(JSON.stringify(text)) + 1;
      numbers.set(text, number);
      return number;
    });
    bytes += JSON.stringify(row).length + 1;
    if (bytes > bytesLimit) break;
    rows.push(row);
  }
  return { texts: [...numbers.keys()], rows };
}
