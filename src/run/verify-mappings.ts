/** Asks the service again for some items of a published run, and holds its mapped values against the answers. */

import type { DestinationName } from "../api/destination.ts";
import { LIVE_COLUMNS, liveDefinitions, liveItem } from "../audit/mapping/api-definitions.ts";
import { type VerifiedItem, verifyItem } from "../audit/mapping/compare.ts";
import type { Definitions } from "../audit/mapping/definitions.ts";
import type { OpenedRun } from "../audit/open-run.ts";
import { readDefinitions, readLedger } from "../audit/questions/read-run.ts";
import { WorkQueue } from "../common/threads/work-queue.ts";
import type { HttpClient, HttpResponse } from "../extract/http/client.ts";
import { itemRequest } from "../extract/http/request.ts";
import { SourceError } from "../extract/http/source-error.ts";
import { createLookups } from "../extract/lookups.ts";
import { decodeBytes } from "../extract/pages/decode.ts";
import { EchoRedactor } from "../extract/pages/echo.ts";
import { readItem } from "../extract/pages/envelope.ts";
import { isObject, type JsonObject } from "../raw/document.ts";
import { Drift } from "../raw/drift.ts";
import { secondsOfInstant } from "../raw/instant.ts";
import { documentPreparer, itemId, lookupPreparer, type Prepare } from "../raw/prepare.ts";
import { all } from "../storage/duckdb.ts";
import { findPersonalFields, policyOf } from "./personal-fields.ts";
import { type Asking, type OpenSource, openClient } from "./source.ts";

export interface VerifyMappingsRequest extends Asking {
  readonly source: OpenSource;
  readonly signal: AbortSignal;
  /** Items to ask for; all of the run where it has fewer. */
  readonly items: number;
  /** The same seed asks for the same items of a run. */
  readonly seed: string;
  readonly onItem: (done: number, total: number) => void;
}

export interface VerifiedMappings {
  readonly asked: number;
  readonly agreeing: number;
  /** Those that do not agree, in ascending order of their IDs. */
  readonly others: readonly VerifiedItem[];
  /** Definitions and destinations of the run. */
  readonly published: Definitions;
}

/** The definitions and destinations of the run are asked for first, as in a run. Throws what the client throws. */
export async function verifyMappings(
  opened: OpenedRun,
  request: VerifyMappingsRequest,
): Promise<VerifiedMappings> {
  const { connection } = opened;
  const { source, signal, config } = request;
  const drawn = await drawItems(opened, request);
  const published = await readDefinitions(connection);
  const client = openClient(source, request);
  const queue = new WorkQueue(config.concurrency, signal);
  const others: VerifiedItem[] = [];
  let done = 0;
  try {
    // What a run published is without the token, so what it is held against is too.
    const echoes = new EchoRedactor(source.token);
    const redact = (bytes: Buffer) => echoes.redact(bytes)?.bytes ?? bytes;
    const lookups = createLookups(client, config.lookupMethod, redact);
    const { destinations } = await lookups.destinations(await destinationNames(connection), signal);
    // What a run published was treated, so what it is held against is too, and nothing else is shown.
    const lookUp = (sought: readonly string[]) => lookups.customFields(sought, signal);
    const policy = policyOf(config, await findPersonalFields(config, { client, lookUp, signal }));
    const treat = documentPreparer({ ...policy, aliases: config.aliases });
    const names = published.fields.flatMap(({ name }) => (name === null ? [] : [name]));
    const found = (await lookUp(names)).definitions;
    const treatDefinition = lookupPreparer(policy);
    for (const definition of found) treatDefinition("custom_field_definition", definition, new Drift());
    const definitions = liveDefinitions(found, destinations);
    for (const { contentId, updatedAt } of drawn) {
      await queue.add(async () => {
        const document = await ask(client, contentId, { ...config, redact, treat }, queue.signal);
        const live = {
          item: document === undefined ? undefined : liveItem(contentId, document),
          definitions,
          updatedAt: secondsOf(document?.updated_at),
        };
        const ledger = await readLedger(connection, contentId);
        const verified = verifyItem(contentId, { ledger, definitions: published, updatedAt }, live);
        if (verified.verdict !== "agrees") others.push(verified);
        done += 1;
        request.onItem(done, drawn.length);
      });
    }
    await queue.done();
  } finally {
    await client.close();
  }
  others.sort((a, b) => (a.contentId < b.contentId ? -1 : 1));
  return { asked: drawn.length, agreeing: drawn.length - others.length, others, published };
}

/** Of the destinations that the run looked up, whatever is configured now. */
async function destinationNames(connection: OpenedRun["connection"]): Promise<DestinationName[]> {
  const rows = await all(
    connection,
    `SELECT identification, platform FROM destinations
     WHERE identification IS NOT NULL AND platform IS NOT NULL ORDER BY destination_id`,
  );
  return rows.map(({ identification, platform }) => ({
    name: String(identification),
    platform: String(platform),
  }));
}

/** By a digest of seed and ID, so that the draw does not depend on the engine or on the order of the rows. */
async function drawItems({ connection }: OpenedRun, { items, seed }: VerifyMappingsRequest) {
  const rows = await all(
    connection,
    `SELECT content_id, floor(epoch(updated_at))::BIGINT AS updated_at FROM content
     ORDER BY md5($1 || chr(10) || content_id), content_id LIMIT $2::BIGINT`,
    [seed, items],
  );
  return rows.map(({ content_id, updated_at }) => ({
    contentId: String(content_id),
    updatedAt: updated_at === null || updated_at === undefined ? null : Number(updated_at),
  }));
}

interface Reading extends Pick<Asking["config"], "aliases"> {
  /** What becomes of a body before it is read. */
  readonly redact: (bytes: Buffer) => Buffer;
  /** Gives fields the specification's names, and applies the personal-data policy. */
  readonly treat: Prepare;
}

async function ask(
  client: HttpClient,
  id: string,
  reading: Reading,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  // An instance may spell a field otherwise.
  const aliases = Object.entries(reading.aliases);
  const columns = LIVE_COLUMNS.map((name) => aliases.find(([, known]) => known === name)?.[0] ?? name);
  const { value } = await client.readAs(
    itemRequest({ id, mode: "dynamic", columns, gallery: false }),
    signal,
    (response) => (response.status === 200 ? documentOf(response, id, reading) : undefined),
  );
  return value;
}

function documentOf(response: HttpResponse, id: string, { redact, treat }: Reading): JsonObject {
  const bytes = redact(decodeBytes(response));
  const document = readItem(bytes.toString());
  const found = itemId(document);
  if (!isObject(document) || "reason" in found || found.id !== id) {
    const why = "reason" in found ? found.reason : "it is of another item";
    throw new SourceError(
      "source.protocol",
      `The service's answer for the item ${id} cannot be used: ${why}.`,
    );
  }
  treat("dynamic", document, { order: 1, contentId: id }, new Drift());
  return document;
}

function secondsOf(instant: unknown): number | null {
  return typeof instant === "string" ? (secondsOfInstant(instant) ?? null) : null;
}
