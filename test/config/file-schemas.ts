/** What is generated from the settings: the JSON Schema of a configuration file, and the table of its page. */
import { z } from "zod";
import { configSpec, declaredTarget } from "../../src/config/config-spec.ts";

/** Settings that JSON can express: targets by their options, and no function. */
const fileSpec = configSpec.omit({ onFinish: true }).extend({
  targets: z
    .array(declaredTarget)
    .default([])
    .describe(configSpec.shape.targets.description ?? ""),
});

/** JSON Schema as text. Editors know draft 7 best. */
export function configSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(fileSpec, {
    io: "input",
    target: "draft-7",
    // In the schema of a file it would forbid to write the list.
    override: ({ jsonSchema }) => void delete jsonSchema.readOnly,
  });
  const title = "Configuration of content-warehouse";
  return `${JSON.stringify({ $schema, title, ...schema }, undefined, 2)}\n`;
}

/** Table of all settings in Markdown. */
export function settingsTable(): string {
  const defaults: Readonly<Record<string, unknown>> = configSpec.parse({});
  const rows = Object.entries(configSpec.shape)
    .filter(([name]) => name !== "$schema")
    .map(
      ([name, { description = "" }]) => `| \`${name}\` | ${defaultText(defaults[name])} | ${description} |\n`,
    );
  return `| Setting | Default | Meaning |\n|---|---|---|\n${rows.join("")}`;
}

function defaultText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "object") return "none";
  return `\`${value}\``;
}
