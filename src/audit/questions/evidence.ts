/** Evidence of an explanation: the request, the response, and the part of the raw document. */

import { join } from "node:path";
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { isObject, parseExact } from "../../common/json.ts";
import { jsonText } from "../../raw/values.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { listFiles, type OpenedRun } from "../open-run.ts";

const required = { required: true } as const;

const REQUEST = {
  request: col.count(required),
  mode: col.text(required),
  pass: col.count(),
  page: col.count(),
  answered: col.instant(required),
  /** SHA-256 of the response body, in hexadecimal. */
  sha256: col.text(required),
} as const;

const REUSED = {
  /** Run that read the document. */
  run: col.text(required),
  answered: col.instant(required),
  /** SHA-256 of the document as answered. */
  sha256: col.text(required),
} as const;

const DOCUMENT = {
  filename: col.text(required),
  mode: col.text(required),
  pass: col.count(required),
  page: col.count(required),
  position: col.count(required),
  /** Position in the order of observation. */
  observation: col.text(required),
  /** SHA-256 of the document as kept. */
  sha256: col.text(required),
  document: col.text(required),
} as const;

type Evidence = Awaited<ReturnType<typeof findEvidence>>;

export async function findEvidence(run: OpenedRun, contentId: string) {
  const { connection } = run;
  return {
    /** Undefined if the run kept no raw document of the item with `custom_fields`. */
    document: await findDocument(run, contentId),
    /** Documents of the item that earlier runs read. */
    reused: await readRows(
      connection,
      REUSED,
      `SELECT read_by_run AS run, sha256, date_trunc('second', observed_at) AS answered
       FROM run_documents WHERE content_id = $1 AND read_by_run IS NOT NULL ORDER BY observation`,
      [contentId],
    ),
    /** Requests for destinations and custom fields. */
    lookups: await readRows(
      connection,
      REQUEST,
      `${REQUESTS} WHERE mode IN ('destinations', 'custom_fields') ORDER BY request`,
    ),
  };
}

const REQUESTS = `
  SELECT request, mode, pass, page, sha256, date_trunc('second', observed_at) AS answered
  FROM run_requests`;

/**
 * Finds the latest document of the item that gives `custom_fields`, even if empty: the run used that one. A
 * document that replaces all earlier ones counts without them.
 */
async function findDocument({ connection, directory }: OpenedRun, contentId: string) {
  const files = ["dynamic", "item"].flatMap((mode) => listFiles(join(directory, "raw", mode)));
  if (files.length === 0) return undefined;
  const [found] = await readRows(
    connection,
    DOCUMENT,
    `SELECT filename, mode, pass, page, position, CAST(observation AS VARCHAR) AS observation, sha256, document
     FROM ${readParquet(files, ["filename"])} AS documents
     WHERE shape = 'dynamic' AND content_id = $1
       AND (whole OR json_type(document, '$.custom_fields') IS NOT NULL)
     ORDER BY documents.observation DESC LIMIT 1`,
    [contentId],
  );
  if (found === undefined) return undefined;
  const { filename, document, ...row } = found;
  const [request] = await readRows(
    connection,
    REQUEST,
    `${REQUESTS} WHERE request IN (
       SELECT request FROM run_documents
       WHERE shape = 'dynamic' AND content_id = $1 AND CAST(observation AS VARCHAR) = $2
     )`,
    [contentId, row.observation],
  );
  const parsed = parseExact(document);
  const fields = isObject(parsed) && isObject(parsed.custom_fields) ? parsed.custom_fields : {};
  return {
    ...row,
    /** Relative to the run's folder. */
    file: filename.slice(directory.length + 1),
    /** By custom field ID: the JSON text at `/custom_fields/<ID>`. */
    parts: new Map(Object.entries(fields).map(([id, value]) => [id, jsonText(value)])),
    /** Request that was answered with the document, if recorded. */
    request,
  };
}

const EVIDENCE = {
  what: col.text(required),
  request: col.count(),
  answered: col.instant(),
  pass: col.count(),
  page: col.count(),
  position: col.count(),
  sha256: col.name({ required: true, head: "SHA-256" }),
  file: col.text(),
} as const;
type EvidenceRow = AnswerRow<typeof EVIDENCE>;

export function evidenceSection({ document, reused, lookups }: Evidence): Section {
  const none = { request: null, answered: null, pass: null, page: null, position: null, file: null };
  const rows: EvidenceRow[] = reused.map((row) => ({
    ...none,
    ...row,
    what: `item document, read by run ${row.run}`,
  }));
  if (document !== undefined) {
    const { mode, pass, page, position, sha256, file } = document;
    // A single-item response has no page.
    const listed = mode === "item" ? {} : { pass, page, position };
    rows.unshift({ ...none, ...listed, what: `${mode} document`, sha256, file });
  }
  const requests = [...(document?.request === undefined ? [] : [document.request]), ...lookups];
  rows.push(...requests.map((row) => ({ ...none, ...row, what: `${row.mode} response` })));
  const noDocument =
    "The run keeps no raw document of the item, so its values come from content_custom_field_values.";
  return section({
    key: "evidence",
    title: "Where this was read",
    lead: document === undefined ? noDocument : undefined,
    columns: EVIDENCE,
    rows,
    limit: 1000,
  });
}
