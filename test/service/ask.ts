import assert from "node:assert/strict";
import { type Agent, type IncomingHttpHeaders, request } from "node:http";
import type { TestContext } from "node:test";
import { z } from "zod";
import { DYNAMIC_COLUMN_NAMES } from "../../src/api/dynamic.ts";
import { unknownFieldWalker } from "../../src/api/unknown-fields.ts";
import type { ContentSetData } from "../../src/service/content-set.ts";
import { assembleContentSet } from "../../src/service/load.ts";
import { createService, type Service, type ServiceOptions } from "../../src/service/service.ts";
import { CONTENT_SET } from "./fixture.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

export interface Question {
  readonly method?: string;
  /** null: no credentials at all. */
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly agent?: Agent;
}

/** A service over the fixture, of which `set` replaces parts, closed when the test ends. */
export async function serve(
  t: TestContext,
  set: Partial<ContentSetData> = {},
  options: Partial<ServiceOptions> = {},
): Promise<Service> {
  const service = await createService({ data: assembleContentSet({ ...CONTENT_SET, ...set }), ...options });
  t.after(() => service.close());
  return service;
}

export function ask({ url }: Service, path: string, question: Question = {}): Promise<Answer> {
  const { method = "GET", token = "t-admin", headers = {}, body, agent } = question;
  const credentials = token === null ? {} : { authorization: basic(token) };
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      { method, headers: { ...credentials, ...length, ...headers }, ...(agent && { agent }) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
          }),
        );
      },
    );
    sent.on("error", reject).end(body);
  });
}

export function basic(token: string, password = "x"): string {
  return `Basic ${Buffer.from(`${token}:${password}`).toString("base64")}`;
}

export function json({ bytes }: Answer): unknown {
  return JSON.parse(bytes.toString());
}

/** Reads an answer (its keys in the order of the wire) that must succeed, hold to the schema, and have no key that the schema does not know. */
export async function read<Schema extends z.ZodObject>(
  service: Service,
  path: string,
  schema: Schema,
  question: Question = {},
): Promise<z.infer<Schema>> {
  const answer = await ask(service, path, question);
  assert.equal(answer.status, 200, answer.bytes.toString());
  return strictly(schema, json(answer));
}

export function strictly<Schema extends z.ZodObject>(schema: Schema, value: unknown): z.infer<Schema> {
  unknownFieldWalker(schema)(value, (path) => assert.fail(`unknown field ${path.join(".")}`));
  schema.parse(value);
  return value as z.infer<Schema>;
}

/** Answer of a single-item request as our service gives it. */
export function singleEnvelope<Item extends z.ZodType>(item: Item) {
  return z.looseObject({ response: item });
}

const refusal = z.strictObject({ error: z.string().regex(/^[A-Z].*\.$/s, "is a sentence") });

/** Asserts a refusal: its status, and a body that is one sentence under `error`. Returns the sentence. */
export function assertRefused(answer: Answer, status: number): string {
  assert.equal(answer.status, status, answer.bytes.toString());
  assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
  return refusal.parse(json(answer)).error;
}

/** Query that asks for every column of the dynamic set. */
export const ALL_COLUMNS = DYNAMIC_COLUMN_NAMES.map((name) => `columns[]=${name}`).join("&");
