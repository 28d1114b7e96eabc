/** Where a run read what the procedure used: the request, its answer, and the part of the raw document. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { parseExact } from "../../common/json.ts";
import { jsonText } from "../../raw/values.ts";
import { all, type Row } from "../../storage/duckdb.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import type { Item } from "../mapping/procedure.ts";
import { type OpenedRun, rawFilesOf } from "../open-run.ts";

/** A request of the run; digests in hexadecimal. */
export interface RequestEvidence {
  readonly request: number;
  readonly mode: string;
  readonly pass: number | null;
  readonly page: number | null;
  readonly status: number;
  /** ISO 8601, UTC. */
  readonly observedAt: string;
  /** Of the response as it came. */
  readonly sha256: string;
}

export interface DocumentEvidence {
  /** Below the run's folder. */
  readonly file: string;
  readonly mode: string;
  readonly pass: number;
  readonly page: number;
  readonly position: number;
  /** Of the document as it is kept. */
  readonly sha256: string;
  /** The answer that it came with. */
  readonly request: RequestEvidence | undefined;
  /** What the procedure read there, by custom field ID: the JSON text at `/custom_fields/<ID>`. */
  readonly parts: ReadonlyMap<string, string>;
}

export interface Evidence {
  /** Undefined where the run kept no raw documents, or none of the item with `custom_fields`. */
  readonly document: DocumentEvidence | undefined;
  /** Lookups of destinations and custom fields. */
  readonly lookups: readonly RequestEvidence[];
}

export async function findEvidence(opened: OpenedRun, contentId: string): Promise<Evidence> {
  const lookups = await all(
    opened.connection,
    `${REQUESTS} WHERE mode IN ('destinations', 'custom_fields') ORDER BY request`,
  );
  return { document: await findDocument(opened, contentId), lookups: lookups.map(requestOf) };
}

const REQUESTS =
  `SELECT request, mode, pass, page, status, sha256, ` +
  `strftime(observed_at, '%Y-%m-%dT%H:%M:%SZ') AS observed_at FROM run_requests`;

/**
 * The latest document of the item whose `custom_fields` is an object: that is what the run read. Only the column of
 * IDs is read of files that do not have the item.
 */
async function findDocument(opened: OpenedRun, contentId: string): Promise<DocumentEvidence | undefined> {
  const files = rawFilesOf(opened, ["dynamic", "item"]);
  if (files.length === 0) return undefined;
  const source = readParquet(files).replace(/\)$/, ", filename = true)");
  const [row] = await all(
    opened.connection,
    `SELECT filename, mode, pass, page, position, sha256, document FROM ${source}
     WHERE content_id = $1 AND shape = 'dynamic' AND json_type(document::JSON, '$.custom_fields') = 'OBJECT'
     ORDER BY observation DESC LIMIT 1`,
    [contentId],
  );
  if (row === undefined) return undefined;
  return {
    file: String(row.filename).slice(opened.directory.length + 1),
    mode: String(row.mode),
    pass: Number(row.pass),
    page: Number(row.page),
    position: Number(row.position),
    sha256: String(row.sha256),
    request: await requestFor(opened.connection, row, contentId),
    parts: partsOf(String(row.document)),
  };
}

async function requestFor(
  connection: DuckDBConnection,
  { mode, pass, page }: Row,
  contentId: string,
): Promise<RequestEvidence | undefined> {
  const rows =
    mode === "item"
      ? await all(
          connection,
          `${REQUESTS} WHERE mode = 'item' AND content_id = $1 AND pass = $2 AND status = 200 ORDER BY request DESC`,
          [contentId, pass ?? null],
        )
      : await all(
          connection,
          `${REQUESTS} WHERE mode = $1 AND pass = $2 AND page = $3 AND content_id IS NULL ORDER BY request DESC`,
          [mode ?? null, pass ?? null, page ?? null],
        );
  return rows[0] === undefined ? undefined : requestOf(rows[0]);
}

function requestOf(row: Row): RequestEvidence {
  const number = (value: Row[string] | undefined) =>
    value === null || value === undefined ? null : Number(value);
  return {
    request: Number(row.request),
    mode: String(row.mode),
    pass: number(row.pass),
    page: number(row.page),
    status: Number(row.status),
    observedAt: String(row.observed_at),
    sha256: String(row.sha256),
  };
}

function customFieldsOf(document: string): Record<string, unknown> {
  const parsed = parseExact(document);
  if (typeof parsed !== "object" || parsed === null || !("custom_fields" in parsed)) return {};
  const { custom_fields: fields } = parsed;
  return typeof fields === "object" && fields !== null ? Object.fromEntries(Object.entries(fields)) : {};
}

function partsOf(document: string): Map<string, string> {
  return new Map(Object.entries(customFieldsOf(document)).map(([id, value]) => [id, jsonText(value)]));
}

/** `/custom_fields/<ID>` as RFC 6901 writes it. */
export function pointerTo(customFieldId: string): string {
  return `/custom_fields/${customFieldId.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Fields of which the published values are not what the raw document has: none, unless something is damaged. */
export function contradicted({ parts }: DocumentEvidence, item: Item): string[] {
  const published = new Map<string, Map<number, string>>();
  for (const { customFieldId, ordinal, input } of item.values) {
    if (input === null) continue;
    const values = published.get(customFieldId) ?? new Map<number, string>();
    published.set(customFieldId, values.set(ordinal, input));
  }
  return [...new Set([...published.keys(), ...parts.keys()])].filter((id) => {
    const values = published.get(id) ?? new Map<number, string>();
    const sent = sentValues(parts.get(id));
    return values.size !== sent.size || [...sent].some(([ordinal, input]) => values.get(ordinal) !== input);
  });
}

/** What stands in the document, by position, as text: a single value is a list of one, null gives none. */
function sentValues(part: string | undefined): Map<number, string> {
  const value: unknown = part === undefined ? null : parseExact(part);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const entries = list.flatMap((element, ordinal): [number, string][] =>
    element === null ? [] : [[ordinal, typeof element === "string" ? element : jsonText(element)]],
  );
  return new Map(entries);
}
