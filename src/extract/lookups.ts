import type { z } from "zod";
import { type CustomFieldDefinition, customFieldDefinition } from "../api/custom-field.ts";
import { type DestinationDocument, type DestinationName, destination } from "../api/destination.ts";
import { type FormDrift, normalizeForm, scalarText } from "../api/normalize.ts";
import { WarehouseError } from "../common/errors.ts";
import { printable } from "../common/printable.ts";
import { isObject, type JsonObject } from "../raw/document.ts";
import type { HttpClient, HttpResponse } from "./http/client.ts";
import { decodeBytes } from "./http/decode.ts";
import { readLookup } from "./http/json-body.ts";
import {
  customFieldRequests,
  destinationRequest,
  type LookupMethod,
  type ServiceRequest,
} from "./http/request.ts";
import { SourceError } from "./http/source-error.ts";

/** `auto`: by GET, and where that does not exist, by a form POST. */
export const LOOKUP_METHODS = ["auto", "get", "post"] as const;
export type LookupMethodSetting = (typeof LOOKUP_METHODS)[number];

/** A request and what came of it, for the account of the run. */
export interface LookupResponse {
  readonly request: ServiceRequest;
  readonly response: HttpResponse;
  readonly rows: readonly LookupRow[];
}

/** A row of an answer: the answer itself is settled, see `settle`. */
export interface LookupRow {
  /** Undefined: it is no object, or has no ID. */
  readonly id: string | undefined;
  /** Undefined: it is no object. */
  readonly row: JsonObject | undefined;
  readonly odd: readonly FormDrift[];
}

export interface DestinationLookup {
  readonly destinations: readonly DestinationDocument[];
  /** Asked for and not there. */
  readonly unmatched: readonly DestinationName[];
  /** Answered without being asked for, by a service that searches more loosely. */
  readonly others: readonly DestinationDocument[];
  readonly answered: readonly LookupResponse[];
}

export interface CustomFieldLookup {
  /** Several definitions may share a name. */
  readonly definitions: readonly CustomFieldDefinition[];
  /** Names without a definition. */
  readonly unmatched: readonly string[];
  readonly answered: readonly LookupResponse[];
}

/** A lookup of one kind: the requests for a method, and what their rows are. */
interface LookupPlan<Row> {
  readonly mode: "destinations" | "custom_fields";
  readonly plan: (method: LookupMethod) => readonly ServiceRequest[];
  readonly schema: z.ZodType<Row>;
  /** Throws where a row that cannot be read may be what was asked for. `place`: of the request in the plan. */
  readonly assertReadable: (rows: readonly Partial<Row>[], place: number) => void;
}

interface LookupResult<Row> {
  /** Of all answers. What several of them have in common counts once: the first of each ID. */
  readonly rows: readonly Row[];
  readonly answered: readonly LookupResponse[];
}

/**
 * The two lookups of a run. They are made anew in every run and never kept: administrators change mappings between
 * runs. What is remembered, for this object's life, is the method that works. Rows are as odd as the service writes them:
 * each throws `contract.drift` only where one without an ID or a name may be what was asked for, and the errors of the
 * client.
 *
 * @param redact what becomes of a body before it is read
 */
export function createLookups(
  client: Pick<HttpClient, "readAs">,
  setting: LookupMethodSetting,
  redact: (bytes: Buffer) => Buffer = (bytes) => bytes,
) {
  const methods = new Map<string, LookupMethod>();

  const rowsOf = (answer: HttpResponse) => readLookup(redact(decodeBytes(answer)).toString());

  async function askBy<Row extends { id: string }>(
    method: LookupMethod,
    { plan, schema, assertReadable }: LookupPlan<Row>,
    signal: AbortSignal,
  ): Promise<LookupResult<Row>> {
    const rows = new Map<string, Row>();
    const answered: LookupResponse[] = [];
    for (const [place, request] of plan(method).entries()) {
      const { response, value } = await client.readAs(request, signal, rowsOf);
      const read = value.map((sent) => settledRow(schema, sent));
      assertReadable(
        read.flatMap(({ row }) => (row === undefined ? [] : (row as Partial<Row>))),
        place,
      );
      for (const { id, row } of read) if (id !== undefined && !rows.has(id)) rows.set(id, row as Row);
      answered.push({ request, response, rows: read });
    }
    return { rows: [...rows.values()], answered };
  }

  async function ask<Row extends { id: string }>(
    lookup: LookupPlan<Row>,
    signal: AbortSignal,
  ): Promise<LookupResult<Row>> {
    const { mode } = lookup;
    const method = methods.get(mode) ?? (setting === "post" ? "POST" : "GET");
    try {
      const found = await askBy(method, lookup, signal);
      if (found.answered.length > 0) methods.set(mode, method);
      return found;
    } catch (error) {
      if (setting !== "auto" || methods.has(mode) || !isMissing(error)) throw error;
    }
    const found = await askBy("POST", lookup, signal);
    methods.set(mode, "POST");
    return found;
  }

  return {
    /** Destinations by name and platform, both compared exactly. */
    async destinations(wanted: readonly DestinationName[], signal: AbortSignal): Promise<DestinationLookup> {
      const plan = (method: LookupMethod) => wanted.map((one) => destinationRequest(one, method));
      const assertReadable = (rows: readonly Partial<DestinationDocument>[], place: number) => {
        const one = wanted[place];
        if (one !== undefined) assertFound(one, rows);
      };
      const lookup = { mode: "destinations", plan, schema: destination, assertReadable } as const;
      const { rows, answered } = await ask(lookup, signal);
      const destinations = rows.filter((row) => wanted.some((one) => isDestination(row, one)));
      const unmatched = wanted.filter((one) => !rows.some((row) => isDestination(row, one)));
      const others = rows.filter((row) => !destinations.includes(row));
      return { destinations, unmatched, others, answered };
    },
    /** Definitions of the custom fields of these names, compared exactly. */
    async customFields(names: Iterable<string>, signal: AbortSignal): Promise<CustomFieldLookup> {
      const wanted = new Set(names);
      // A lookup without a name is no lookup: the empty name is reported, not sent.
      const sent = [...wanted].filter((name) => name !== "");
      const plan = (method: LookupMethod) => customFieldRequests(sent, method);
      const assertReadable = (rows: readonly Partial<CustomFieldDefinition>[]) => {
        const lacking = rows.find(
          ({ id, name }) => id === undefined && (name === undefined || wanted.has(name)),
        );
        if (lacking !== undefined)
          throw unreadable(`the custom field ${JSON.stringify(lacking.name ?? null)} without an id`);
      };
      const lookup = { mode: "custom_fields", plan, schema: customFieldDefinition, assertReadable } as const;
      const { rows, answered } = await ask(lookup, signal);
      const definitions = rows.filter(({ name }) => name === undefined || wanted.has(name));
      const known = new Set(rows.map(({ name }) => name));
      return { definitions, unmatched: [...wanted].filter((name) => !known.has(name)), answered };
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof SourceError && (error.status === 404 || error.status === 405);
}

function settledRow(schema: z.ZodType, sent: unknown): LookupRow {
  const odd: FormDrift[] = [];
  if (!isObject(sent)) return { id: undefined, row: undefined, odd };
  normalizeForm(schema, sent, odd);
  const id = typeof sent.id === "string" && sent.id !== "" ? sent.id : undefined;
  if (id === undefined) delete sent.id;
  return { id, row: sent, odd };
}

function isDestination(row: Partial<DestinationDocument>, wanted: DestinationName): boolean {
  const { identification, platform = wanted.platform } = row;
  return identification === wanted.name && platform === wanted.platform;
}

/** Throws where only a row without an ID, or without a name, may be the destination. */
function assertFound(wanted: DestinationName, rows: readonly Partial<DestinationDocument>[]): void {
  const { name } = wanted;
  const named = rows.filter((row) => isDestination(row, wanted));
  if (named.some(({ id }) => id !== undefined)) return;
  if (named.length > 0) throw unreadable(`the destination ${JSON.stringify(name)} without an id`);
  const nameless = rows.filter((row) => scalarText(row.identification) === undefined);
  const maybe = nameless.find((row) => isDestination({ ...row, identification: name }, wanted));
  if (maybe === undefined) return;
  const which = maybe.id === undefined ? "" : ` (${printable(maybe.id)})`;
  throw unreadable(`one destination without an identification${which}, which may be ${JSON.stringify(name)}`);
}

function unreadable(what: string): WarehouseError {
  return new WarehouseError(
    "contract.drift",
    `The service answered a lookup with ${what}: no mapped value can be made with it; correct it at the service, or remove the name from the configuration.`,
  );
}
