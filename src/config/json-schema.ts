import { z } from "zod";
import { configSpec, TARGETS } from "./config-spec.ts";
import { declaredTarget } from "./target-spec.ts";

/** What JSON can say. */
const sayable = configSpec
  .omit({ onFinish: true })
  .extend({ targets: z.array(declaredTarget).default([]).describe(TARGETS) });

/** The JSON Schema of a configuration file, as text, without what JSON cannot say. Draft 7 is what editors know best. */
export function configJsonSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(sayable, {
    io: "input",
    target: "draft-7",
    // In a schema of a file it would say that nobody may write the list.
    override: ({ jsonSchema }) => {
      delete jsonSchema.readOnly;
    },
  });
  const title = "Configuration of content-warehouse";
  return `${JSON.stringify({ $schema, title, ...schema }, undefined, 2)}\n`;
}
