import type { DestinationName } from "../api/destination.ts";
import { DEFAULT_PLATFORM } from "../extract/content-client.ts";
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

/** Settings that are shown with their defaults, commented out. */
const SHOWN = ["keepRuns", "concurrency", "ratePerSecond", "deadlineMinutes", "personalData"] as const;

/** The text of a configuration file with a comment for each setting. */
export function configText({ url, tokenFile, destinations, warehouse }: NewConfig): string {
  const defaults = configSpec.parse({});
  const settings = [
    setting("url", JSON.stringify(url)),
    tokenFile === null ? unset("tokenFile", '"./token"') : setting("tokenFile", JSON.stringify(tokenFile)),
    setting("destinations", destinationsText(destinations)),
    setting("warehouse", JSON.stringify(warehouse)),
    ...SHOWN.map((name) => unset(name, JSON.stringify(defaults[name]))),
  ];
  return `// Settings of content-warehouse; docs/configuration.md of the package has all of them.
// "content-warehouse check" says whether they are right.

/** @type {import("content-warehouse").ConfigSpec} */
export default {
${settings.join("\n")}};
`;
}

function setting(name: keyof ConfigSpec, value: string): string {
  return `${comment(name)}  ${name}: ${value},\n`;
}

function unset(name: keyof ConfigSpec, value: string): string {
  return `${comment(name)}  // ${name}: ${value},\n`;
}

function comment(name: keyof ConfigSpec): string {
  return `  // ${configSpec.shape[name].description}\n`;
}

function destinationsText(destinations: readonly DestinationName[]): string {
  if (destinations.length === 0) return "[]";
  const lines = destinations.map(({ name, platform }) => {
    const where = platform === DEFAULT_PLATFORM ? "" : `, platform: ${JSON.stringify(platform)}`;
    return `\n    { name: ${JSON.stringify(name)}${where} },`;
  });
  return `[${lines.join("")}\n  ]`;
}
