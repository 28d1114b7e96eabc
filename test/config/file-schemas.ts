import { fileSpec } from "../../src/config/config-spec.ts";
import { schemaOf } from "../../src/config/form-faults.ts";

/** The JSON Schema of a configuration that the package has, as text. A function is nothing that JSON can say. */
export function configSchema(): string {
  const { $schema, ...schema } = schemaOf(fileSpec.omit({ onFinish: true }), ({ jsonSchema }) => {
    delete jsonSchema.expected;
    delete jsonSchema.isSecret;
    // In a schema of a file it would say that nobody may write the list.
    delete jsonSchema.readOnly;
  });
  const title = "Configuration of content-warehouse";
  return `${JSON.stringify({ $schema, title, ...schema }, undefined, 2)}\n`;
}
