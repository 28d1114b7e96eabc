import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
import type { Service } from "../../src/service/service.ts";
import { ask, json } from "./ask.ts";

const responses = z.record(z.string(), z.object({ description: z.string(), content: z.unknown() }));
const description = z.looseObject({
  servers: z.tuple([z.object({ url: z.string() })]),
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ operationId: z.string(), responses }))),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});
export type Description = z.infer<typeof description>;

export async function describe(service: Service): Promise<Description> {
  return description.parse(json(await ask(service, "/openapi.json", { token: null })));
}

/** Asserts that a value is what the schema of this name says. */
export function validator(document: Description): (name: string, value: unknown) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(document, "openapi");
  return (name, value) => {
    const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
    assert.ok(validate, name);
    assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}`);
  };
}

const schema = z.looseObject({
  $ref: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  additionalProperties: z.unknown().optional(),
});
type Schema = z.infer<typeof schema>;

const ANYTHING = {};
const parsedSchemas = new Map<unknown, Schema>();

function parsed(described: unknown): Schema {
  const known = parsedSchemas.get(described) ?? schema.parse(described);
  parsedSchemas.set(described, known);
  return known;
}

/** What was seen of the objects at one place of the description. */
interface Seen {
  readonly required: readonly string[];
  /** Names that every one of the objects had. */
  always: readonly string[];
  readonly undescribed: Set<string>;
}

/** Follows answers along their description and notes which properties their objects have. */
export class Presence {
  readonly places = new Map<string, Seen>();
  readonly #document: Description;

  constructor(document: Description) {
    this.#document = document;
  }

  see(name: string, value: unknown): void {
    this.#see(name, parsed(this.#document.components.schemas[name]), value);
  }

  #see(place: string, described: Schema, value: unknown): void {
    if (described.$ref !== undefined) this.see(described.$ref.split("/").at(-1) ?? "", value);
    for (const one of described.anyOf ?? []) this.#see(place, parsed(one), value);
    if (Array.isArray(value)) {
      for (const element of value) this.#see(`${place}[]`, parsed(described.items ?? ANYTHING), element);
    } else if (typeof value === "object" && value !== null) this.#seeObject(place, described, value);
  }

  #seeObject(place: string, { properties, required, additionalProperties }: Schema, value: object): void {
    if (properties !== undefined) this.#note(place, required, Object.keys(properties), Object.keys(value));
    for (const [key, one] of Object.entries(value)) {
      const below = properties === undefined ? additionalProperties : properties[key];
      this.#see(`${place}.${properties === undefined ? "*" : key}`, parsed(below ?? ANYTHING), one);
    }
  }

  #note(
    place: string,
    required: readonly string[],
    described: readonly string[],
    had: readonly string[],
  ): void {
    const seen = this.places.get(place) ?? { required, always: described, undescribed: new Set() };
    seen.always = seen.always.filter((name) => had.includes(name));
    for (const name of had) if (!described.includes(name)) seen.undescribed.add(name);
    this.places.set(place, seen);
  }
}
