/**
 * How long a table keeps what its newest version has not: by two properties of Delta's, which a delivery sets by the lake's
 * setting, and other programs may set as well. What another program set stays.
 */
import type { MetaDataAction } from "./actions.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;

/** Of versions. */
const LOG = "delta.logRetentionDuration";
/** Of data files and their names in the log. */
const FILES = "delta.deletedFileRetentionDuration";
/** What a delivery said last, such as `30 days, north`: by it we know what is still ours of the two. */
const OURS = "contentWarehouse.logRetention";

/** Days that the protocol keeps each where a table does not say; removed files are named as long at least by ours. */
const DEFAULT_DAYS = { [LOG]: 30, [FILES]: 7 } as const;

type Property = keyof typeof DEFAULT_DAYS;
type Configuration = MetaDataAction["configuration"];

/** What an instance of the lake wants. */
export interface RetentionSetting {
  readonly instance: string;
  readonly retentionDays: number;
}

export function retentionProperties(setting: RetentionSetting): Readonly<Record<string, string>> {
  const { retentionDays, instance } = setting;
  return { ...textsOf(retentionDays), [OURS]: `${retentionDays} days, ${instance}` };
}

function textsOf(days: number): Readonly<Record<Property, string>> {
  return { [FILES]: `interval ${Math.max(DEFAULT_DAYS[FILES], days)} days`, [LOG]: `interval ${days} days` };
}

/** What a delivery said last, as far as it is known; null: the properties are another program's. */
function writtenIn(
  configuration: Configuration,
): { readonly days: number; readonly instance: string | null } | null {
  const [, days, instance] = /^(\d+) days, (\S+)$/.exec(configuration[OURS] ?? "") ?? [];
  if (days !== undefined && instance !== undefined) return { days: Number(days), instance };
  // Tables that an earlier program made say it by the two alone.
  const [, alone] = /^interval (\d+) days$/.exec(configuration[LOG] ?? "") ?? [];
  const isOurs = alone !== undefined && configuration[FILES] === textsOf(Number(alone))[FILES];
  return isOurs ? { days: Number(alone), instance: null } : null;
}

/** Days by the deliveries. An instance that wants less than another one does not shorten what that one wants. */
function daysOf(configuration: Configuration, { instance, retentionDays }: RetentionSetting): number {
  const written = writtenIn(configuration);
  const isOthers = written !== null && written.instance !== null && written.instance !== instance;
  return isOthers ? Math.max(written.days, retentionDays) : retentionDays;
}

function isOurs(configuration: Configuration, property: Property): boolean {
  const written = writtenIn(configuration);
  return written !== null && configuration[property] === textsOf(written.days)[property];
}

/** Metadata by an instance's setting. The same object: they say it, or another program set both properties. */
export function withRetention(metaData: MetaDataAction, setting: RetentionSetting): MetaDataAction {
  const { configuration } = metaData;
  const days = daysOf(configuration, setting);
  const ours = ([LOG, FILES] as const).filter((property) => isOurs(configuration, property));
  if (ours.length === 0 || days === writtenIn(configuration)?.days) return metaData;
  const { [OURS]: said, ...all } = retentionProperties({ ...setting, retentionDays: days });
  const changed = Object.fromEntries(ours.map((property) => [property, all[property] ?? null]));
  return { ...metaData, configuration: { ...configuration, ...changed, [OURS]: said ?? null } };
}

/** A property that another program set. */
export interface OwnRetention {
  readonly property: string;
  readonly value: string;
  /** Milliseconds; null: nobody here can read it. */
  readonly keptMs: number | null;
}

export interface TableRetention {
  /** How long versions can be read. */
  readonly logMs: number;
  /** How long data files stay that were removed: as long as versions, or longer. */
  readonly filesMs: number;
  readonly own: readonly OwnRetention[];
}

/** How long a table keeps things. What it says that we cannot read is taken for ever. */
export function retentionOf(configuration: Configuration, setting: RetentionSetting): TableRetention {
  const keptMs = (property: Property) =>
    isOurs(configuration, property)
      ? daysOf(configuration, setting) * DAY_MS
      : (intervalMs(configuration, property) ?? Number.POSITIVE_INFINITY);
  const own = ([LOG, FILES] as const).flatMap((property) => {
    const value = configuration[property] ?? null;
    if (value === null || isOurs(configuration, property)) return [];
    return { property, value, keptMs: intervalMs(configuration, property) };
  });
  return { logMs: keptMs(LOG), filesMs: Math.max(keptMs(LOG), keptMs(FILES)), own };
}

/** How long checkpoints name removed files: as long as any vacuum may ask for them. */
export function namedMs(configuration: Configuration): number {
  const named: readonly Property[] = configuration[LOG] ? [FILES, LOG] : [FILES];
  return Math.max(
    ...named.map((property) => intervalMs(configuration, property) ?? Number.POSITIVE_INFINITY),
  );
}

const UNIT_MS: Readonly<Record<string, number>> = {
  nanosecond: 1e-6,
  microsecond: 1e-3,
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
};

const INTERVAL = /^(?:interval\s+)?(\d+\s+[a-z]+(?:\s+\d+\s+[a-z]+)*)$/;

/** `interval 1 week`, `interval 1 day 12 hours`; null: it is none that has a length. */
function intervalMs(configuration: Configuration, property: Property): number | null {
  const text = configuration[property] ?? null;
  if (text === null) return DEFAULT_DAYS[property] * DAY_MS;
  const [, parts = ""] = INTERVAL.exec(text.trim().toLowerCase()) ?? [];
  const lengths = [...parts.matchAll(/(\d+)\s+([a-z]+?)s?(?=\s|$)/g)].map(
    ([, count, unit = ""]) => Number(count) * (UNIT_MS[unit] ?? Number.NaN),
  );
  const length = lengths.reduce((sum, each) => sum + each, 0);
  return lengths.length === 0 || Number.isNaN(length) ? null : length;
}
