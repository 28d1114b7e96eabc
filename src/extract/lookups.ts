/** Looks up destinations and custom field definitions by name, and lands the responses as raw documents. */
import { z } from "zod";
import { customFieldDefinition } from "../api/custom-field.ts";
import { type DestinationName, destination } from "../api/destination.ts";
import { type FormDrift, normalizeForm, scalarText } from "../api/normalize.ts";
import { WarehouseError } from "../common/errors.ts";
import { isObject, type JsonObject, mayHoldLarge } from "../common/json.ts";
import { printable } from "../common/printable.ts";
import type { Drift } from "../raw/drift.ts";
import type { PolicySettings } from "../raw/personal/policy.ts";
import { lookupPreparer } from "../raw/prepare.ts";
import { type LookupMode, NOT_REUSED, RawFileWriter } from "../raw/raw-file.ts";
import type { RawPaths } from "../raw/raw-folder.ts";
import { LOOKUP_ORDER, type LookupResource } from "../raw/unknown-fields.ts";
import { PartWriter } from "../storage/parquet-file.ts";
import type { HttpClient, HttpResponse } from "./http/client.ts";
import { decodeBytes, misfit, readBody } from "./http/decode.ts";
import { API_PREFIX, type ServiceRequest } from "./http/request.ts";
import { SourceError } from "./http/source-error.ts";

type LookupMethod = ServiceRequest["method"];
type DestinationDocument = z.infer<typeof destination>;

interface LookupResponse {
  readonly request: ServiceRequest;
  readonly response: HttpResponse;
  readonly rows: readonly LookupRow[];
}

/** A row of a response, normalized by `normalizeForm`. */
interface LookupRow {
  /** `undefined`: it has no ID, or is not an object. */
  readonly id: string | undefined;
  /** `undefined`: it is not an object. */
  readonly row: JsonObject | undefined;
  readonly odd: readonly FormDrift[];
}

export interface DestinationLookup {
  readonly destinations: readonly DestinationDocument[];
  /** Requested destinations that the service does not have. */
  readonly unmatched: readonly DestinationName[];
  /** Destinations that were not requested, from a service that searches more loosely. */
  readonly others: readonly DestinationDocument[];
  readonly responses: readonly LookupResponse[];
}

export interface CustomFieldLookup {
  /** Several definitions may share a name. */
  readonly definitions: readonly z.infer<typeof customFieldDefinition>[];
  /** Names without a definition. */
  readonly unmatched: readonly string[];
  readonly responses: readonly LookupResponse[];
}

interface LookupPlan<Row> {
  readonly mode: "destinations" | "custom_fields";
  readonly requests: (method: LookupMethod) => readonly ServiceRequest[];
  readonly schema: z.ZodType<Row>;
}

/**
 * The two lookups of a run. Every run repeats them, because administrators change mappings between runs. The method that
 * works is remembered. Rows of another form are accepted; `contract.drift` is thrown only for a row without an ID or a name that may
 * be one that was requested.
 */
export class Lookups {
  readonly #client: Pick<HttpClient, "readAs">;
  readonly #setting: "auto" | "get" | "post";
  readonly #redact: (bytes: Buffer) => Buffer;
  readonly #methods = new Map<string, LookupMethod>();

  /**
   * @param setting `auto`: GET, and POST with a form if the service does not know GET
   * @param redact applied to each body before it is read
   */
  constructor(
    client: Pick<HttpClient, "readAs">,
    setting: "auto" | "get" | "post",
    redact: (bytes: Buffer) => Buffer = (bytes) => bytes,
  ) {
    this.#client = client;
    this.#setting = setting;
    this.#redact = redact;
  }

  /** Destinations by name and platform, both compared exactly. */
  async destinations(names: readonly DestinationName[], signal: AbortSignal): Promise<DestinationLookup> {
    const requests = (method: LookupMethod) =>
      names.map(({ name, platform }): ServiceRequest => {
        const parameters: ServiceRequest["parameters"] = [
          ["name", name],
          ["platform", platform],
        ];
        return { mode: "destinations", method, path: `${API_PREFIX}/destinations`, parameters };
      });
    const plan = { mode: "destinations", requests, schema: destination } as const;
    const { rows, responses } = await this.#send(plan, signal);
    for (const [place, name] of names.entries()) assertIdentified(name, responses[place]?.rows ?? []);
    const destinations = rows.filter((row) => names.some((name) => isDestination(row, name)));
    const unmatched = names.filter((name) => !rows.some((row) => isDestination(row, name)));
    return { destinations, unmatched, others: rows.filter((row) => !destinations.includes(row)), responses };
  }

  /** Definitions of the custom fields with these names, compared exactly. */
  async customFields(names: Iterable<string>, signal: AbortSignal): Promise<CustomFieldLookup> {
    const requested = new Set(names);
    // The service refuses a lookup without a name: the empty name is reported, not sent.
    const sent = [...requested].filter((name) => name !== "");
    const requests = (method: LookupMethod) => customFieldRequests(sent, method);
    const plan = { mode: "custom_fields", requests, schema: customFieldDefinition } as const;
    const { rows, responses } = await this.#send(plan, signal);
    const isRequested = ({ name }: { readonly name?: unknown }) =>
      name === undefined || requested.has(String(name));
    for (const { id, row } of responses.flatMap((response) => response.rows))
      if (row !== undefined && id === undefined && isRequested(row))
        throw unreadable(`the custom field ${JSON.stringify(row.name ?? null)} without an id`);
    const known = new Set(rows.map(({ name }) => name));
    const unmatched = [...requested].filter((name) => !known.has(name));
    return { definitions: rows.filter(isRequested), unmatched, responses };
  }

  async #send<Row extends { id: string }>(plan: LookupPlan<Row>, signal: AbortSignal) {
    const { mode } = plan;
    const known = this.#methods.get(mode);
    try {
      return await this.#sendBy(known ?? (this.#setting === "post" ? "POST" : "GET"), plan, signal);
    } catch (error) {
      const isMissing = error instanceof SourceError && (error.status === 404 || error.status === 405);
      if (this.#setting !== "auto" || known !== undefined || !isMissing) throw error;
      return this.#sendBy("POST", plan, signal);
    }
  }

  /** Rows of all responses; the first row of each ID counts. */
  async #sendBy<Row extends { id: string }>(
    method: LookupMethod,
    { mode, requests, schema }: LookupPlan<Row>,
    signal: AbortSignal,
  ): Promise<{ readonly rows: readonly Row[]; readonly responses: readonly LookupResponse[] }> {
    const byId = new Map<string, Row>();
    const responses: LookupResponse[] = [];
    for (const request of requests(method)) {
      const { response, value } = await this.#client.readAs(request, signal, (answer) =>
        readLookup(this.#redact(decodeBytes(answer)).toString()),
      );
      const rows = value.map((sent) => lookupRow(schema, sent));
      for (const { id, row } of rows) if (id !== undefined && !byId.has(id)) byId.set(id, row as Row);
      responses.push({ request, response, rows });
    }
    if (responses.length > 0) this.#methods.set(mode, method);
    return { rows: [...byId.values()], responses };
  }
}

/** Longest encoded list of names in one request, in bytes: many servers and proxies refuse URLs above 8 KB. */
const MAX_NAMES_BYTES = 5500;

/** Requests for the definitions of the custom fields with these names, as few as URLs of about 6 KB allow. */
function customFieldRequests(names: readonly string[], method: LookupMethod): ServiceRequest[] {
  const chunks: string[][] = [];
  let left = 0;
  for (const name of names) {
    const bytes = new URLSearchParams([["name[]", name]]).toString().length + 1;
    if (bytes > left || chunks.length === 0) {
      chunks.push([]);
      left = MAX_NAMES_BYTES;
    }
    chunks.at(-1)?.push(name);
    left -= bytes;
  }
  return chunks.map((chunk) => ({
    mode: "custom_fields",
    method,
    path: `${API_PREFIX}/custom_fields_reference`,
    parameters: chunk.map((name) => [chunk.length === 1 ? "name" : "name[]", name]),
  }));
}

const lookupBody = z.looseObject({ response: z.array(z.unknown()) });

/** The rows of a lookup, in an envelope or bare. Throws what `readList` throws. */
export function readLookup(text: string): readonly unknown[] {
  const body = readBody(text);
  if (Array.isArray(body)) return body;
  const parsed = lookupBody.safeParse(body);
  if (parsed.success) return parsed.data.response;
  throw misfit(body, "the answer of a lookup", parsed.error);
}

function lookupRow(schema: z.ZodType, sent: unknown): LookupRow {
  const odd: FormDrift[] = [];
  if (!isObject(sent)) return { id: undefined, row: undefined, odd };
  normalizeForm(schema, sent, odd);
  const id = typeof sent.id === "string" && sent.id !== "" ? sent.id : undefined;
  if (id === undefined) delete sent.id;
  return { id, row: sent, odd };
}

function isDestination(row: Partial<DestinationDocument>, requested: DestinationName): boolean {
  const { identification, platform = requested.platform } = row;
  return identification === requested.name && platform === requested.platform;
}

/** Throws if only a row without an ID, or without a name, may be the destination. */
function assertIdentified(requested: DestinationName, answer: readonly LookupRow[]): void {
  const { name } = requested;
  const rows = answer.flatMap(({ row }): Partial<DestinationDocument>[] => (row === undefined ? [] : [row]));
  const named = rows.filter((row) => isDestination(row, requested));
  if (named.some(({ id }) => id !== undefined)) return;
  if (named.length > 0) throw unreadable(`the destination ${JSON.stringify(name)} without an id`);
  const nameless = rows.filter((row) => scalarText(row.identification) === undefined);
  const candidate = nameless.find((row) => isDestination({ ...row, identification: name }, requested));
  if (candidate === undefined) return;
  const which = candidate.id === undefined ? "" : ` (${printable(candidate.id)})`;
  throw unreadable(`one destination without an identification${which}, which may be ${JSON.stringify(name)}`);
}

function unreadable(what: string): WarehouseError {
  return new WarehouseError(
    "contract.drift",
    `The service answered a lookup with ${what}, so mapped values cannot be computed from it; correct it at the service, or remove the name from the configuration.`,
  );
}

/** Writes the rows that were requested as raw documents, in the order of the responses. Throws errors of the disk. */
export function landLookups(
  destinations: DestinationLookup,
  fields: CustomFieldLookup,
  landing: {
    readonly files: RawPaths;
    /** Applied to the rows in place, before anything is written. */
    readonly personal: PolicySettings;
    readonly drift: Drift;
  },
): void {
  const { files, drift } = landing;
  const writer = new RawFileWriter(new PartWriter());
  const prepare = lookupPreparer(landing.personal);
  const land = (
    mode: LookupMode,
    shape: LookupResource,
    requested: ReadonlySet<unknown>,
    responses: readonly LookupResponse[],
  ): void => {
    const documents = responses.flatMap(({ rows, response }, index) =>
      rows.flatMap(({ id, row, odd }, position) => {
        if (id === undefined) drift.note(shape, "type", LOOKUP_ORDER, null);
        if (id === undefined || row === undefined || !requested.has(row)) return [];
        const unknown = prepare(shape, row, odd, drift);
        const text = JSON.stringify(row);
        const document = {
          contentId: id,
          mode,
          pass: 0,
          page: index + 1,
          position,
          whole: true,
          view: { shape, order: LOOKUP_ORDER, observedAt: response.observedAt },
          unknownFields: unknown.length,
          largeNumbers: mayHoldLarge(text),
          reuse: NOT_REUSED,
          document: [Buffer.from(text)],
        };
        return [document];
      }),
    );
    if (documents.length > 0) writer.write(files.of(mode, 0, 0), documents);
  };
  land("custom_fields", "custom_field_definition", new Set(fields.definitions), fields.responses);
  land("destinations", "destination", new Set(destinations.destinations), destinations.responses);
}
