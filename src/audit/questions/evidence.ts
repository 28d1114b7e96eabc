/** Where a run read what the procedure used: the request, its answer, and the part of the raw document. */
import { col } from "../../common/answer.ts";
import { parseExact } from "../../common/json.ts";
import { isObject } from "../../common/objects.ts";
import { jsonText } from "../../raw/values.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import type { Item } from "../mapping/procedure.ts";
import { type OpenedRun, rawFilesOf } from "../open-run.ts";

const required = { required: true } as const;

const REQUEST = {
  request: col.count(required),
  mode: col.text(required),
  pass: col.count(),
  page: col.count(),
  status: col.count(required),
  /** ISO 8601, UTC. */
  observedAt: col.text(required),
  /** Of the response as it came, in hexadecimal. */
  sha256: col.text(required),
} as const;

const REUSED = {
  /** The earlier run. */
  run: col.text(required),
  /** ISO 8601, UTC. */
  observedAt: col.text(required),
  /** Of the document when it was answered. */
  sha256: col.text(required),
} as const;

const DOCUMENT = {
  filename: col.text(required),
  mode: col.text(required),
  pass: col.count(required),
  page: col.count(required),
  position: col.count(required),
  /** Of the document as it is kept. */
  sha256: col.text(required),
  document: col.text(required),
} as const;

export type DocumentEvidence = NonNullable<Awaited<ReturnType<typeof findDocument>>>;
export type Evidence = Awaited<ReturnType<typeof findEvidence>>;

export async function findEvidence(opened: OpenedRun, contentId: string) {
  const lookups = `${REQUESTS} WHERE mode IN ('destinations', 'custom_fields') ORDER BY request`;
  return {
    /** Undefined where the run kept no raw documents, or none of the item with `custom_fields`. */
    document: await findDocument(opened, contentId),
    reused: await findReused(opened, contentId),
    /** Lookups of destinations and custom fields. */
    lookups: await rowsBy(opened.connection, REQUEST, lookups),
  };
}

/** Documents of the item that earlier runs read; none in a run of an earlier version. */
async function findReused({ connection, manifest }: OpenedRun, contentId: string) {
  if (manifest.rows.run_documents === undefined) return [];
  return rowsBy(
    connection,
    REUSED,
    `SELECT read_by_run AS run, sha256, strftime(observed_at, '%Y-%m-%dT%H:%M:%SZ') AS observed_at
     FROM run_documents WHERE content_id = $1 AND read_by_run IS NOT NULL ORDER BY observation`,
    [contentId],
  );
}

const REQUESTS = `
  SELECT request, mode, pass, page, status, sha256, strftime(observed_at, '%Y-%m-%dT%H:%M:%SZ') AS observed_at
  FROM run_requests`;

/** $1 mode, $2 pass, $3 page, $4 item */
const REQUEST_OF_DOCUMENT = `${REQUESTS}
  WHERE mode = $1 AND pass = $2 AND CASE
    WHEN mode = 'item' THEN content_id = $4 AND status = 200
    ELSE page = $3 AND content_id IS NULL
  END
  ORDER BY request DESC LIMIT 1`;

/**
 * The latest document of the item whose `custom_fields` is an object: that is what the run read. Only the column of
 * IDs is read of files that do not have the item.
 */
async function findDocument(opened: OpenedRun, contentId: string) {
  const { connection } = opened;
  const files = rawFilesOf(opened, ["dynamic", "item"]);
  if (files.length === 0) return undefined;
  const source = readParquet(files, ["filename"]);
  const [row] = await rowsBy(
    connection,
    DOCUMENT,
    `SELECT filename, mode, pass, page, position, sha256, document FROM ${source}
     WHERE content_id = $1 AND shape = 'dynamic' AND json_type(document::JSON, '$.custom_fields') = 'OBJECT'
     ORDER BY observation DESC LIMIT 1`,
    [contentId],
  );
  if (row === undefined) return undefined;
  const { filename, document, ...place } = row;
  const { mode, pass, page } = place;
  const [request] = await rowsBy(connection, REQUEST, REQUEST_OF_DOCUMENT, [mode, pass, page, contentId]);
  return {
    /** Below the run's folder. */
    file: filename.slice(opened.directory.length + 1),
    ...place,
    /** The answer that it came with; undefined: it is not recorded. */
    request,
    /** What the procedure read there, by custom field ID: the JSON text at `/custom_fields/<ID>`. */
    parts: partsOf(document),
  };
}

function partsOf(document: string): Map<string, string> {
  const parsed = parseExact(document);
  const fields = isObject(parsed) ? parsed.custom_fields : undefined;
  return new Map(Object.entries(isObject(fields) ? fields : {}).map(([id, value]) => [id, jsonText(value)]));
}

/** `/custom_fields/<ID>` as RFC 6901 writes it. */
export function pointerTo(customFieldId: string): string {
  return `/custom_fields/${customFieldId.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Fields of which the published values are not what the raw document has: none, unless something is damaged. */
export function contradicted({ parts }: DocumentEvidence, { values }: Item): string[] {
  const given = values.filter(({ input }) => input !== null);
  const published = Map.groupBy(given, ({ customFieldId }) => customFieldId);
  return [...new Set([...published.keys(), ...parts.keys()])].filter((id) => {
    const rows = (published.get(id) ?? []).map(({ ordinal, input }) => [ordinal, input]);
    return JSON.stringify(rows) !== JSON.stringify(sentValues(parts.get(id)));
  });
}

/** What stands in the document, with its position, as text: a single value is a list of one, null gives none. */
function sentValues(part: string | undefined): [ordinal: number, input: string][] {
  const value: unknown = part === undefined ? null : parseExact(part);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((element, ordinal): [number, string][] =>
    element === null ? [] : [[ordinal, typeof element === "string" ? element : jsonText(element)]],
  );
}
