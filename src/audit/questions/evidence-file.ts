/** The file of `explain --evidence`: what a reader needs to check the payloads of an item without the warehouse. */
import { join } from "node:path";
import { col } from "../../common/answer.ts";
import { noAnswer } from "../../common/errors.ts";
import { parseExact } from "../../common/json.ts";
import { jsonText } from "../../common/printable.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { listFiles, type OpenedRun } from "../open-run.ts";
import { explainItem } from "./explain-facts.ts";
import { stepsSection } from "./explain-steps.ts";

const ABOUT =
  "Evidence for what destinations receive of one content item. Documents, definitions and destinations are texts as " +
  "the run kept them, after its personal-data policy; their sha256 is of that text in UTF-8, so this file alone " +
  "suffices to check it. The sha256 of a request is of the response as received, and answer_sha256 is of the whole " +
  "document that an earlier run read; neither is in this file, so they are stated only.";

const text = col.text({ required: true });
const count = col.count({ required: true });

const RAW_TEXT = {
  id: text,
  shape: text,
  mode: text,
  pass: count,
  page: count,
  position: count,
  /** Null for lookups, and for documents that an earlier run read. */
  request: col.count(),
  answered: text,
  read_by_run: col.text(),
  answer_sha256: col.text(),
  sha256: text,
  text,
} as const;

/** The item's documents that count, the latest last, the definitions of its fields, and all destinations. */
const rawTexts = (files: readonly string[]) => `
  SELECT content_id AS id, shape, mode, pass, page, position, request, strftime(raw.observed_at, '%Y-%m-%dT%H:%M:%SZ') AS answered,
    nullif(raw.read_by_run, '') AS read_by_run, nullif(answer_sha256, '') AS answer_sha256, raw.sha256, document AS text
  FROM ${readParquet(files)} AS raw LEFT JOIN run_documents USING (content_id, shape, observation)
  WHERE CASE mode
    WHEN 'destinations' THEN true
    WHEN 'custom_fields' THEN content_id IN (
      SELECT custom_field_id FROM content_custom_field_values AS item WHERE item.content_id = $1
    )
    ELSE content_id = $1 END
  QUALIFY observation >= coalesce(max(observation) FILTER (whole) OVER (PARTITION BY content_id, shape), 0)
  ORDER BY observation, content_id`;

const REQUEST = {
  request: count,
  mode: text,
  pass: col.count(),
  page: col.count(),
  status: count,
  answered: text,
  sha256: text,
} as const;

const REQUESTS = `
  SELECT request, mode, pass, page, status, strftime(observed_at, '%Y-%m-%dT%H:%M:%SZ') AS answered, sha256
  FROM run_requests
  WHERE mode IN ('destinations', 'custom_fields')
    OR request IN (SELECT request FROM run_documents AS item WHERE item.content_id = $1)
  ORDER BY request`;

const PAYLOAD = {
  destination_id: text,
  destination: col.text(),
  receives: col.flag({ required: true }),
  payload: text,
} as const;

const PAYLOADS = `
  SELECT destination_id, identification AS destination, payloads.receives, CAST(payload AS VARCHAR) AS payload
  FROM content_external_payloads AS payloads LEFT JOIN destinations USING (destination_id)
  WHERE content_id = $1 ORDER BY destination_id`;

/** JSON text of the evidence for an item. Throws what `explainItem` throws, and `answer.nothing` without raw documents. */
export async function evidenceFile(opened: OpenedRun, item: string): Promise<string> {
  const { connection, directory, run, manifest } = opened;
  const explanation = await explainItem(opened, item);
  const { contentId } = explanation.item;
  const modes = ["dynamic", "full", "item", "custom_fields", "destinations"];
  const files = modes.flatMap((mode) => listFiles(join(directory, "raw", mode)));
  const texts = files.length === 0 ? [] : await readRows(connection, RAW_TEXT, rawTexts(files), [contentId]);
  const documents = texts.filter(({ mode }) => mode !== "custom_fields" && mode !== "destinations");
  if (documents.length === 0)
    throw noAnswer(
      `Run ${run} keeps no raw documents, so there is no evidence to write; set "raw" to true for runs to come.`,
    );
  const payloads = await readRows(connection, PAYLOAD, PAYLOADS, [contentId]);
  const evidence = {
    about: ABOUT,
    run,
    verdict: manifest.verdict,
    item: explanation.item,
    /** Whether values of fields without value mappings are sent as they are. */
    passthrough: explanation.passthrough,
    payloads: payloads.map((row) => ({ ...row, payload: parseExact(row.payload) })),
    steps: stepsSection(explanation, {}).rows,
    documents,
    definitions: texts.filter(({ mode }) => mode === "custom_fields"),
    destinations: texts.filter(({ mode }) => mode === "destinations"),
    requests: await readRows(connection, REQUEST, REQUESTS, [contentId]),
  };
  return `${jsonText(evidence, 1)}\n`;
}
