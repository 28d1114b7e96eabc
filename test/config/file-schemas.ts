import { z } from "zod";
import { configSpec } from "../../src/config/config-spec.ts";
import { declaredTarget } from "../../src/config/target-spec.ts";

/** What a JSON file can say: a target by its options, not one that a module makes, and no function. */
const fileSpec = configSpec.omit({ onFinish: true }).extend({
  targets: z
    .array(declaredTarget)
    .default([])
    .describe(configSpec.shape.targets.description ?? ""),
});

/** The JSON Schema of a configuration that the package has, as text. Draft 7 is what editors know best. */
export function configSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(fileSpec, {
    io: "input",
    target: "draft-7",
    // In a schema of a file it would say that nobody may write the list.
    override: ({ jsonSchema }) => void delete jsonSchema.readOnly,
  });
  const title = "Configuration of content-warehouse";
  return `${JSON.stringify({ $schema, title, ...schema }, undefined, 2)}\n`;
}
