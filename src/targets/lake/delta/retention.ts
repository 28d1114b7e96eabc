/**
 * The two properties of a Delta table that say how long it keeps earlier versions. A delivery raises them to the lake's
 * setting and never lowers them. `lake vacuum` and our checkpoints obey them.
 */
import type { MetaDataAction } from "./actions.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;

/** How long versions stay in the log. */
const LOG = "delta.logRetentionDuration";
/** How long removed data files, and their names in the log, stay. */
const FILES = "delta.deletedFileRetentionDuration";
const PROPERTIES = [LOG, FILES] as const;

/** Days that apply if a table does not have the property. */
const DEFAULT_DAYS = { [LOG]: 30, [FILES]: 7 } as const;

type Property = (typeof PROPERTIES)[number];

export function retentionProperties(days: number): Readonly<Record<Property, string>> {
  return { [FILES]: `interval ${filesDays(days)} days`, [LOG]: `interval ${days} days` };
}

function filesDays(days: number): number {
  return Math.max(DEFAULT_DAYS[FILES], days);
}

/** Raises the properties to this number of days; gives the same object if they are long enough. */
export function withRetention(metaData: MetaDataAction, days: number): MetaDataAction {
  const { configuration } = metaData;
  const texts = retentionProperties(days);
  const wantedMs = { [LOG]: days * DAY_MS, [FILES]: filesDays(days) * DAY_MS };
  const short = PROPERTIES.filter((property) => intervalMs(configuration, property) < wantedMs[property]);
  if (short.length === 0) return metaData;
  const raised = Object.fromEntries(short.map((property) => [property, texts[property]]));
  return { ...metaData, configuration: { ...configuration, ...raised } };
}

/** `filesMs` is at least `logMs`, so that every version in the log can be read. */
export function retentionOf({ configuration }: Pick<MetaDataAction, "configuration">): {
  readonly logMs: number;
  readonly filesMs: number;
} {
  const logMs = intervalMs(configuration, LOG);
  return { logMs, filesMs: Math.max(logMs, intervalMs(configuration, FILES)) };
}

const UNIT_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
};

/** Parses `interval 1 week` or `interval 36 hours`; other forms are infinite, so that everything is kept. */
function intervalMs(configuration: MetaDataAction["configuration"], property: Property): number {
  const text = configuration[property] ?? null;
  if (text === null) return DEFAULT_DAYS[property] * DAY_MS;
  const [, count, unit = ""] = /^(?:interval\s+)?(\d+)\s+([a-z]+?)s?$/.exec(text.trim().toLowerCase()) ?? [];
  const unitMs = UNIT_MS[unit] ?? Number.POSITIVE_INFINITY;
  return count === undefined ? Number.POSITIVE_INFINITY : Number(count) * unitMs;
}
