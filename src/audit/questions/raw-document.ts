/** Finds the raw document that the values of an item were read from. */
import { join } from "node:path";
import { col } from "../../common/answer.ts";
import { isObject, parseExact } from "../../common/json.ts";
import { jsonText } from "../../raw/values.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { listFiles, type OpenedRun } from "../open-run.ts";

const required = { required: true } as const;
const DOCUMENT = {
  filename: col.text(required),
  mode: col.text(required),
  document: col.text(required),
} as const;

/**
 * Finds the latest document of the item that gives `custom_fields`, even if empty: the run used that one. A document that
 * replaces all earlier ones counts without them. `undefined` if the run kept none.
 */
export async function findDocument({ connection, directory }: OpenedRun, contentId: string) {
  const files = ["dynamic", "item"].flatMap((mode) => listFiles(join(directory, "raw", mode)));
  if (files.length === 0) return undefined;
  const [found] = await readRows(
    connection,
    DOCUMENT,
    `SELECT filename, mode, document
     FROM ${readParquet(files, ["filename"])} AS documents
     WHERE shape = 'dynamic' AND content_id = $1
       AND (whole OR json_type(document, '$.custom_fields') IS NOT NULL)
     ORDER BY documents.observation DESC LIMIT 1`,
    [contentId],
  );
  if (found === undefined) return undefined;
  const { filename, mode, document } = found;
  const parsed = parseExact(document);
  const fields = isObject(parsed) && isObject(parsed.custom_fields) ? parsed.custom_fields : {};
  return {
    mode,
    /** Relative to the run's folder. */
    file: filename.slice(directory.length + 1),
    /** By custom field ID: the JSON text at `/custom_fields/<ID>`. */
    parts: new Map(Object.entries(fields).map(([id, value]) => [id, jsonText(value)])),
  };
}
