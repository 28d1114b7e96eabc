import type { z } from "zod";
import { type CustomFieldDefinition, customFieldDefinition } from "../api/custom-field.ts";
import type { DestinationName } from "../api/destination.ts";
import { type Destination, destination } from "../api/destination.ts";
import { fitting } from "./answer-form.ts";
import type { HttpClient, HttpResponse } from "./http/client.ts";
import {
  customFieldRequests,
  destinationRequest,
  type LookupMethod,
  type ReadRequest,
} from "./http/request.ts";
import { SourceError } from "./http/source-error.ts";
import { decodeBytes } from "./pages/decode.ts";
import { readLookup } from "./pages/envelope.ts";

/** `auto`: by GET, and where that does not exist, by a form POST. */
export const LOOKUP_METHODS = ["auto", "get", "post"] as const;
export type LookupMethodSetting = (typeof LOOKUP_METHODS)[number];

/** A request and what came of it, for the account of the run. */
export interface Answered {
  readonly request: ReadRequest;
  readonly response: HttpResponse;
  /** IDs of the rows of the answer, in their order. */
  readonly ids: readonly string[];
}

export interface DestinationLookup {
  readonly destinations: readonly Destination[];
  /** Asked for and not there. */
  readonly unmatched: readonly DestinationName[];
  /** Answered without being asked for, by a service that searches more loosely. */
  readonly others: readonly Destination[];
  readonly answered: readonly Answered[];
}

export interface CustomFieldLookup {
  /** Several definitions may share a name. */
  readonly definitions: readonly CustomFieldDefinition[];
  /** Names without a definition. */
  readonly unmatched: readonly string[];
  readonly answered: readonly Answered[];
}

/** A lookup of one kind: the requests for a method, and what their rows are. */
interface Lookup<Row> {
  readonly mode: "destinations" | "custom_fields";
  readonly plan: (method: LookupMethod) => readonly ReadRequest[];
  readonly schema: z.ZodType<Row>;
  readonly what: string;
}

interface Found<Row> {
  /** Of all answers. What several of them have in common counts once: the first of each ID. */
  readonly rows: readonly Row[];
  readonly answered: readonly Answered[];
}

/**
 * The two lookups of a run. They are made anew in every run and never kept: administrators change mappings between
 * runs. What is remembered, for this object's life, is the method that works. Each throws `contract.drift` where a row
 * is none, and the errors of the client.
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
    { plan, schema, what }: Lookup<Row>,
    signal: AbortSignal,
  ): Promise<Found<Row>> {
    const misfit = `The service answered a lookup with a ${what} that does not fit its specification`;
    const rows = new Map<string, Row>();
    const answered: Answered[] = [];
    for (const request of plan(method)) {
      const { response, value } = await client.readAs(request, signal, rowsOf);
      // A wrong definition would make wrong mapped values of every item, so the run does not go on with it.
      const read = value.map((row) => fitting(schema, row, misfit));
      for (const row of read) if (!rows.has(row.id)) rows.set(row.id, row);
      answered.push({ request, response, ids: read.map(({ id }) => id) });
    }
    return { rows: [...rows.values()], answered };
  }

  async function ask<Row extends { id: string }>(
    lookup: Lookup<Row>,
    signal: AbortSignal,
  ): Promise<Found<Row>> {
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
      const lookup = { mode: "destinations", plan, schema: destination, what: "destination" } as const;
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
      const what = "custom field definition";
      const lookup = { mode: "custom_fields", plan, schema: customFieldDefinition, what } as const;
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

function isDestination(row: Destination, wanted: DestinationName): boolean {
  const { identification = wanted.name, platform = wanted.platform } = row;
  return identification === wanted.name && platform === wanted.platform;
}
