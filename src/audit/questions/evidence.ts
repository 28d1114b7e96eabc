/** Evidence of an explanation: the request, the response, and the part of the raw document. */
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { isObject, parseExact } from "../../common/json.ts";
import { jsonText } from "../../raw/values.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { listRawFiles, type OpenedRun } from "../open-run.ts";
import type { ItemValue } from "./item-values.ts";

const required = { required: true } as const;

const REQUEST = {
  request: col.count(required),
  mode: col.text(required),
  pass: col.count(),
  page: col.count(),
  /** ISO 8601, UTC. */
  observedAt: col.text(required),
  /** SHA-256 of the response body, in hexadecimal. */
  sha256: col.text(required),
} as const;

const REUSED = {
  /** Run that read the document. */
  run: col.text(required),
  /** ISO 8601, UTC. */
  observedAt: col.text(required),
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

export type Evidence = Awaited<ReturnType<typeof findEvidence>>;
type DocumentEvidence = NonNullable<Evidence["document"]>;

export async function findEvidence(run: OpenedRun, contentId: string) {
  const { connection } = run;
  return {
    /** Undefined if the run kept no raw document of the item with `custom_fields`. */
    document: await findDocument(run, contentId),
    /** Documents of the item that earlier runs read. */
    reused: await readRows(
      connection,
      REUSED,
      `SELECT read_by_run AS run, sha256, strftime(observed_at, '%Y-%m-%dT%H:%M:%SZ') AS observed_at
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
  SELECT request, mode, pass, page, sha256, strftime(observed_at, '%Y-%m-%dT%H:%M:%SZ') AS observed_at
  FROM run_requests`;

/**
 * Finds the latest document of the item that gives `custom_fields`, even if empty: the run used that one. A
 * document that replaces all earlier ones counts without them.
 */
async function findDocument({ connection, directory }: OpenedRun, contentId: string) {
  const files = listRawFiles(directory, ["dynamic", "item"]);
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
  return {
    ...row,
    /** Relative to the run's folder. */
    file: filename.slice(directory.length + 1),
    /** By custom field ID: the JSON text at `/custom_fields/<ID>`. */
    parts: partsOf(document),
    /** Request that was answered with the document, if recorded. */
    request,
  };
}

function partsOf(document: string): Map<string, string> {
  const parsed = parseExact(document);
  const fields = isObject(parsed) ? parsed.custom_fields : undefined;
  return new Map(Object.entries(isObject(fields) ? fields : {}).map(([id, value]) => [id, jsonText(value)]));
}

/** JSON pointer `/custom_fields/<ID>` (RFC 6901). */
export function fieldPointer(customFieldId: string): string {
  return `/custom_fields/${customFieldId.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Fields whose published values differ from the raw document. Empty unless something is damaged. */
export function findContradictions({ parts }: DocumentEvidence, values: readonly ItemValue[]): string[] {
  const given = values.filter(({ input }) => input !== null);
  const published = Map.groupBy(given, ({ customFieldId }) => customFieldId);
  return [...new Set([...published.keys(), ...parts.keys()])].filter((id) => {
    const rows = (published.get(id) ?? []).map(({ ordinal, input }) => [ordinal, input]);
    return JSON.stringify(rows) !== JSON.stringify(sentValues(parts.get(id)));
  });
}

/** Values of a field in the document, with their positions. A single value is a list of one; null gives none. */
function sentValues(part: string | undefined): [ordinal: number, input: string][] {
  const value: unknown = part === undefined ? null : parseExact(part);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((element, ordinal): [number, string][] =>
    element === null ? [] : [[ordinal, typeof element === "string" ? element : jsonText(element)]],
  );
}

const EVIDENCE = {
  what: col.text(required),
  request: col.count(),
  answered: col.instant(),
  pass: col.count(),
  page: col.count(),
  position: col.count(),
  sha256: col.name({ required: true, head: "SHA-256", dispensable: 1 }),
  file: col.text(),
} as const;

const NO_DOCUMENT =
  "The run keeps no raw document of the item, so its values come from content_custom_field_values.";

export function evidenceSection({ document, reused, lookups }: Evidence): Section {
  return section({
    key: "evidence",
    title: "Where this was read",
    lead: document === undefined ? NO_DOCUMENT : undefined,
    columns: EVIDENCE,
    rows: [
      ...(document === undefined ? [] : [documentRow(document)]),
      ...reused.map(({ run, observedAt, sha256 }) => ({
        ...NONE,
        what: `item document, read by run ${run}`,
        answered: new Date(observedAt),
        sha256,
      })),
      ...(document?.request === undefined ? [] : [responseRow(document.request)]),
      ...lookups.map(responseRow),
    ],
    limit: 1000,
  });
}

const NONE = { request: null, answered: null, pass: null, page: null, position: null, file: null };

function responseRow({ mode, request, observedAt, pass, page, sha256 }: AnswerRow<typeof REQUEST>) {
  return { ...NONE, what: `${mode} response`, request, answered: new Date(observedAt), pass, page, sha256 };
}

function documentRow({ mode, pass, page, position, sha256, file }: DocumentEvidence) {
  // A single-item response has no page.
  const listed = mode === "item" ? {} : { pass, page, position };
  return { ...NONE, ...listed, what: `${mode} document`, sha256, file };
}
