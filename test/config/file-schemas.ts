import type { z } from "zod";
import { fileSpec } from "../../src/config/config-spec.ts";
import { schemaOf } from "../../src/config/form-faults.ts";
import { fleetFileSpec } from "../../src/fleet/fleet-spec.ts";

/** The JSON Schemas that the package has, by file, as text. */
export const FILE_SCHEMAS = {
  // A function is nothing that JSON can say.
  "config.schema.json": schemaText("Configuration of content-warehouse", fileSpec.omit({ onFinish: true })),
  "fleet.schema.json": schemaText("Fleet of content-warehouse", fleetFileSpec),
} as const;

function schemaText(title: string, declared: z.ZodType): string {
  const { $schema, ...schema } = schemaOf(declared, ({ jsonSchema }) => {
    delete jsonSchema.expected;
    delete jsonSchema.isSecret;
    // In a schema of a file it would say that nobody may write the list.
    delete jsonSchema.readOnly;
  });
  return `${JSON.stringify({ $schema, title, ...schema }, undefined, 2)}\n`;
}
