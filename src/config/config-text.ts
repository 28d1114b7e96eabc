import type { DestinationName } from "../api/destination.ts";
import { type ConfigSpec, configSpec } from "./config-spec.ts";

/** Name of a new configuration file. Plain JavaScript: it can be read wherever the package is installed. */
export const NEW_CONFIG_FILE = "content-warehouse.config.mjs";

/** What a new configuration says. */
export interface NewConfig {
  readonly url: string;
  /** Null: the token comes from CONTENT_API_TOKEN. */
  readonly tokenFile: string | null;
  readonly destinations: readonly DestinationName[];
  readonly warehouse: string;
}

/** In this order; what was not answered is shown with its default, commented out. */
const SHOWN = [
  "url",
  "tokenFile",
  "destinations",
  "warehouse",
  "keepRuns",
  "concurrency",
  "ratePerSecond",
  "deadlineMinutes",
  "personalData",
] as const;

/** The text of a configuration file with a comment for each setting. */
export function configText({ tokenFile, ...others }: NewConfig): string {
  const answered: Partial<ConfigSpec> = tokenFile === null ? others : { ...others, tokenFile };
  const shown = { ...configSpec.parse({}), tokenFile: "./token", ...answered };
  const settings = SHOWN.map((name) => {
    const value = JSON.stringify(shown[name], null, 2).replaceAll("\n", "\n  ");
    const mark = name in answered ? "" : "// ";
    return `  // ${configSpec.shape[name].description}\n  ${mark}${name}: ${value},\n`;
  });
  return `// Settings of content-warehouse; docs/configuration.md of the package has all of them.
// "content-warehouse check" says whether they are right.

/** @type {import("content-warehouse").ConfigSpec} */
export default {
${settings.join("\n")}};
`;
}
