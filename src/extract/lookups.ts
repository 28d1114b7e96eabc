import type { z } from "zod";
import { type CustomFieldDefinition, customFieldDefinition } from "../api/custom-field.ts";
import type { DestinationName } from "../api/destination.ts";
import { type Destination, destination } from "../api/destination.ts";
import { WarehouseError } from "../common/errors.ts";
import type { HttpClient, HttpResponse } from "./http/client.ts";
import { firstProblem } from "./http/problem.ts";
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

/**
 * The two lookups of a run. They are made anew in every run and never kept: administrators change mappings between
 * runs. What is remembered, for this object's life, is the method that works.
 */
export interface Lookups {
  /**
   * Destinations by name and platform, both compared exactly.
   *
   * @throws {WarehouseError} `contract.drift` where a row is none, and the errors of the client
   */
  destinations(wanted: readonly DestinationName[], signal: AbortSignal): Promise<DestinationLookup>;
  /** Definitions of the custom fields of these names, compared exactly. Errors as of `destinations`. */
  customFields(names: Iterable<string>, signal: AbortSignal): Promise<CustomFieldLookup>;
}

type Redact = (bytes: Buffer) => Buffer;

/** Builds the requests of one lookup for a method. */
type Plan = (method: LookupMethod) => readonly ReadRequest[];

interface Answer extends Omit<Answered, "ids"> {
  readonly rows: readonly unknown[];
}

/** `redact`: what becomes of a body before it is read. */
export function createLookups(
  client: Pick<HttpClient, "readAs">,
  setting: LookupMethodSetting,
  redact: Redact = (bytes) => bytes,
): Lookups {
  const ask = createAsker(client, setting, redact);
  return {
    async destinations(wanted, signal) {
      const plan: Plan = (method) => wanted.map((one) => destinationRequest(one, method));
      const answers = await ask("destinations", plan, signal);
      const { rows, answered } = checked(destination, answers, "destination");
      const found = unique(rows);
      const destinations = found.filter((row) => wanted.some((one) => isDestination(row, one)));
      const unmatched = wanted.filter((one) => !found.some((row) => isDestination(row, one)));
      const others = found.filter((row) => !destinations.includes(row));
      return { destinations, unmatched, others, answered };
    },
    async customFields(names, signal) {
      const wanted = new Set(names);
      // A lookup without a name is no lookup: the empty name is reported, not sent.
      const sent = [...wanted].filter((name) => name !== "");
      const plan: Plan = (method) => customFieldRequests(sent, method);
      const answers = await ask("custom_fields", plan, signal);
      const { rows, answered } = checked(customFieldDefinition, answers, "custom field definition");
      const found = unique(rows);
      const definitions = found.filter(({ name }) => name === undefined || wanted.has(name));
      const known = new Set(found.map(({ name }) => name));
      return { definitions, unmatched: [...wanted].filter((name) => !known.has(name)), answered };
    },
  };
}

type Ask = (
  lookup: "destinations" | "custom_fields",
  plan: Plan,
  signal: AbortSignal,
) => Promise<readonly Answer[]>;

function createAsker(client: Pick<HttpClient, "readAs">, setting: LookupMethodSetting, redact: Redact): Ask {
  const methods = new Map<string, LookupMethod>();

  async function askBy(method: LookupMethod, plan: Plan, signal: AbortSignal): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    for (const request of plan(method)) {
      const { response, value } = await client.readAs(request, signal, (answer) => rowsOf(answer, redact));
      answers.push({ request, response, rows: value });
    }
    return answers;
  }

  return async (lookup, plan, signal) => {
    const method = methods.get(lookup) ?? (setting === "post" ? "POST" : "GET");
    try {
      const answers = await askBy(method, plan, signal);
      if (answers.length > 0) methods.set(lookup, method);
      return answers;
    } catch (error) {
      if (setting !== "auto" || methods.has(lookup) || !isMissing(error)) throw error;
    }
    const answers = await askBy("POST", plan, signal);
    methods.set(lookup, "POST");
    return answers;
  };
}

function rowsOf({ body, contentEncoding }: HttpResponse, redact: Redact): readonly unknown[] {
  return readLookup(redact(decodeBytes(body, contentEncoding)).toString());
}

function isMissing(error: unknown): boolean {
  return error instanceof SourceError && (error.status === 404 || error.status === 405);
}

function isDestination(row: Destination, wanted: DestinationName): boolean {
  const { identification = wanted.name, platform = wanted.platform } = row;
  return identification === wanted.name && platform === wanted.platform;
}

/** What several answers have in common counts once: the first of each ID. */
function unique<Row extends { id: string }>(rows: readonly Row[]): Row[] {
  const byId = new Map<string, Row>();
  for (const row of rows) if (!byId.has(row.id)) byId.set(row.id, row);
  return [...byId.values()];
}

interface Checked<Row> {
  /** Of all answers. */
  readonly rows: readonly Row[];
  readonly answered: readonly Answered[];
}

function checked<Row extends { id: string }>(
  schema: z.ZodType<Row>,
  answers: readonly Answer[],
  what: string,
): Checked<Row> {
  const read = answers.map(({ rows, ...answer }) => {
    return { ...answer, rows: rows.map((row) => checkedRow(schema, row, what)) };
  });
  const answered = read.map(({ rows, ...answer }) => ({ ...answer, ids: rows.map(({ id }) => id) }));
  return { rows: read.flatMap(({ rows }) => rows), answered };
}

/** A wrong definition would make wrong mapped values of every item, so the run does not go on with it. */
function checkedRow<Row>(schema: z.ZodType<Row>, row: unknown, what: string): Row {
  const result = schema.safeParse(row);
  if (result.success) return result.data;
  throw new WarehouseError(
    "contract.drift",
    `The service answered a lookup with a ${what} that does not fit its specification${firstProblem(result.error)}; a newer version of content-warehouse may know it.`,
  );
}
