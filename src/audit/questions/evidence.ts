/** Where a run read what the procedure used: the request, its answer, and the part of the raw document. */
import { join } from "node:path";
import { col } from "../../common/answer.ts";
import { parseExact } from "../../common/json.ts";
import { isObject } from "../../common/objects.ts";
import { jsonText } from "../../raw/values.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import type { Fullness } from "../checks/mass-change.ts";
import type { Item } from "../mapping/procedure.ts";
import { type OpenedRun, rawFilesIn } from "../open-run.ts";

const required = { required: true } as const;

const REQUEST = {
  request: col.count(required),
  mode: col.text(required),
  pass: col.count(),
  page: col.count(),
  /** ISO 8601, UTC. */
  observedAt: col.text(required),
  /** Of the response as it came, in hexadecimal. */
  sha256: col.text(required),
} as const;

const ANSWER = { ...REQUEST, answerTo: col.text(required), observation: col.text(required) } as const;

const REUSED = {
  contentId: col.text(required),
  /** The earlier run. */
  run: col.text(required),
  /** ISO 8601, UTC. */
  observedAt: col.text(required),
  /** Of the document when it was answered. */
  sha256: col.text(required),
} as const;

const DOCUMENT = {
  contentId: col.text(required),
  filename: col.text(required),
  mode: col.text(required),
  pass: col.count(required),
  page: col.count(required),
  position: col.count(required),
  /** Its place in the order of observation. */
  observation: col.text(required),
  /** Of the document as it is kept. */
  sha256: col.text(required),
} as const;

/** Where a run's tables are open. */
export type EvidentRun = Pick<OpenedRun, "connection" | "directory"> & {
  readonly manifest: Pick<Fullness, "rows">;
};

/** Items by a query that has their IDs, as `content_id`, and no other column. */
export interface SomeItems {
  readonly sql: string;
  readonly params: readonly string[];
}

export type Evidence = Awaited<ReturnType<typeof findEvidence>>;
/** But for what is the same of all items. */
export type EvidenceOfItem = ReturnType<Awaited<ReturnType<typeof evidenceOfItems>>["of"]>;
export type DocumentEvidence = NonNullable<Evidence["document"]>;

/** Of one item. */
export async function findEvidence(run: EvidentRun, contentId: string) {
  const found = await evidenceOfItems(run, { sql: "SELECT $1::VARCHAR AS content_id", params: [contentId] });
  const { document, ...others } = found.of(contentId);
  return {
    ...others,
    document: document && { ...document, parts: await partsOf(run, contentId, document) },
    lookups: found.lookups,
  };
}

/** Of many items at once, with the same statements. */
export async function evidenceOfItems(run: EvidentRun, items: SomeItems) {
  const documents = await findDocuments(run, items);
  const requests = await requestsOf(run, items);
  const reused = Map.groupBy(await findReused(run, items), ({ contentId }) => contentId);
  const lookups = `${REQUESTS} WHERE mode IN ('destinations', 'custom_fields') ORDER BY request`;
  return {
    of: (contentId: string) => {
      const document = documents.get(contentId);
      return {
        /**
         * With the answer that it came with, where that is recorded. Undefined where the run kept no raw documents, or none
         * of the item with `custom_fields`.
         */
        document: document && { ...document, request: requests.get(keyOf(contentId, document)) },
        reused: reused.get(contentId) ?? [],
      };
    },
    /** Lookups of destinations and custom fields. */
    lookups: await rowsBy(run.connection, REQUEST, lookups),
  };
}

/** Documents of items that earlier runs read. */
async function findReused({ connection }: EvidentRun, { sql, params }: SomeItems) {
  return rowsBy(
    connection,
    REUSED,
    `SELECT content_id, read_by_run AS run, sha256, strftime(observed_at, '%Y-%m-%dT%H:%M:%SZ') AS observed_at
     FROM run_documents WHERE content_id IN (${sql}) AND read_by_run IS NOT NULL ORDER BY content_id, observation`,
    params,
  );
}

const REQUESTS = `
  SELECT request, mode, pass, page, sha256, strftime(observed_at, '%Y-%m-%dT%H:%M:%SZ') AS observed_at
  FROM run_requests`;

/** The requests that dynamic documents were the answers to. */
async function requestsOf({ connection }: EvidentRun, { sql, params }: SomeItems) {
  const rows = await rowsBy(
    connection,
    ANSWER,
    `SELECT * FROM (
       SELECT request, content_id AS answer_to, CAST(observation AS VARCHAR) AS observation
       FROM run_documents WHERE shape = 'dynamic' AND content_id IN (${sql})
     ) JOIN (${REQUESTS}) USING (request)`,
    params,
  );
  return new Map(rows.map(({ answerTo, observation, ...row }) => [keyOf(answerTo, { observation }), row]));
}

function keyOf(contentId: string, { observation }: { readonly observation: string }): string {
  return JSON.stringify([contentId, observation]);
}

/**
 * By item: the latest document that says anything of `custom_fields`, be it that there are none, which is what the run
 * read; one that replaces all before says it by what it lacks, so the text of such a document is not read.
 */
async function findDocuments({ connection, directory }: EvidentRun, { sql, params }: SomeItems) {
  const files = rawFilesIn(directory, ["dynamic", "item"]);
  if (files.length === 0) return new Map<string, never>();
  const rows = await rowsBy(
    connection,
    DOCUMENT,
    `WITH documents AS NOT MATERIALIZED (
       FROM ${readParquet(files, ["filename"])} WHERE shape = 'dynamic' AND content_id IN (${sql})
     ),
     speaking AS (
       SELECT * EXCLUDE (document) FROM documents WHERE whole
       UNION ALL
       SELECT * EXCLUDE (document) FROM documents WHERE NOT whole AND json_type(document, '$.custom_fields') IS NOT NULL
     )
     SELECT content_id, unnest(max_by(
       {
         filename: filename, mode: mode, pass: pass, page: page, position: position,
         observation: CAST(observation AS VARCHAR), sha256: sha256
       },
       observation
     ))
     FROM speaking GROUP BY content_id`,
    params,
  );
  return new Map(
    rows.map(({ filename, ...row }) => {
      // Below the run's folder.
      const file = filename.slice(directory.length + 1);
      return [row.contentId, { ...row, file }];
    }),
  );
}

const TEXT = { document: col.text(required) } as const;

/** What the procedure read there, by custom field ID: the JSON text at `/custom_fields/<ID>`. */
async function partsOf(
  { connection, directory }: EvidentRun,
  contentId: string,
  { file, page, position }: { readonly file: string; readonly page: number; readonly position: number },
): Promise<Map<string, string>> {
  const source = readParquet([join(directory, file)]);
  const [row] = await rowsBy(
    connection,
    TEXT,
    `SELECT document FROM ${source} WHERE content_id = $1 AND page = $2 AND position = $3`,
    [contentId, page, position],
  );
  const parsed = row && parseExact(row.document);
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
