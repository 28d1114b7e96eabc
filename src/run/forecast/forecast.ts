/** What a run would ask for, told before it begins: by the service's first answer, and by what the run before asked for. */
import { type Answer, col, type RowOf, type Section, section } from "../../common/answer.ts";
import { count, counted, duration, fileSize, megabytes } from "../../common/figures.ts";
import type { ListMode } from "../../extract/http/request.ts";
import { PAGE_SIZES, type PerPage, type UsedSizes } from "../../extract/pages/page-size.ts";
import type { WhyNone } from "../../raw/reusable.ts";
import { otherSettingsText, WHY_NONE_TEXTS } from "../reuse.ts";

/** Requests of one kind that the run before made. */
export interface Spent {
  readonly requests: number;
  /** As they came. */
  readonly bytes: number;
  /** To the last byte, of all of them. */
  readonly milliseconds: number;
}

export const FORECAST_MODES = ["dynamic", "full", "basic", "item", "destinations", "custom_fields"] as const;
type Mode = (typeof FORECAST_MODES)[number];

/** The run before. */
export interface RunBefore {
  /** That it listed. */
  readonly items: number;
  readonly spent: Readonly<Partial<Record<Mode, Spent>>>;
  /** Requests for a first page that only tried a size. */
  readonly tries: number;
  /** Files that it published. */
  readonly publishedBytes: number;
}

/** Items whose single-item answers the tables need. */
export interface Singles {
  readonly wanted: number;
  /** Of these the ones that stand in from the run before. */
  readonly reused: number;
  /** Null: some do, or there is no run before, or nothing is to be reused. */
  readonly whyNone: WhyNone | { readonly kind: "due" | "changed" } | null;
}

export interface Tonight {
  /** That the token may read. */
  readonly items: number;
  readonly listings: readonly ListMode[];
  readonly perPage: PerPage;
  /** Of the run before. */
  readonly pageSizes: UsedSizes;
  /** The most that the service was seen to grant. */
  readonly granted: number;
  readonly singles: Singles;
  readonly destinations: number;
  /** Whether custom fields are looked up. */
  readonly customFields: boolean;
  /** Null: none is set, and the service was found to set none. */
  readonly ratePerSecond: number | null;
  readonly concurrency: number;
}

const FORECAST = {
  stage: col.text({ required: true }),
  requests: col.count({ required: true }),
  /** Null: the run before asked for nothing of the kind, or there is none. */
  bytes: col.bytes({ head: "received" }),
  /** Null: likewise, and there is no rate. */
  milliseconds: col.milliseconds({ head: "time" }),
} as const;
export type StageForecast = RowOf<typeof FORECAST>;

export interface Forecast {
  readonly stages: readonly StageForecast[];
  readonly requests: number;
  /** Of the stages of which it is known; null: of none. */
  readonly bytes: number | null;
  /** Likewise. */
  readonly milliseconds: number | null;
  readonly publishedBytes: number | null;
}

/** `before`: undefined where there is none to go by. */
export function forecastOf(tonight: Tonight, before: RunBefore | undefined): Forecast {
  const { singles, listings, destinations, customFields } = tonight;
  const asked = singles.wanted - singles.reused;
  // One listing is certified by a further pass over IDs and times.
  const [first, second = "basic"] = listings;
  const modes = first === undefined ? [] : [first, second];
  const pages = new Map(modes.map((mode) => [mode, pagesOf(mode, tonight)]));
  const lookupsBefore = before === undefined ? 1 : (before.spent.custom_fields?.requests ?? 0);
  const fieldLookups = customFields ? lookupsBefore : 0;
  const stages = [
    ...[...pages].map(([mode, requests]) => stageOf(`${mode} listing`, { mode, requests }, tonight, before)),
    stageOf("page sizes", { mode: first ?? "dynamic", requests: triesOf(tonight, before) }, tonight, before),
    stageOf("single items", { mode: "item", requests: asked }, tonight, before),
    stageOf("destinations", { mode: "destinations", requests: destinations }, tonight, before),
    stageOf("custom fields", { mode: "custom_fields", requests: fieldLookups }, tonight, before),
  ].filter(({ requests }) => requests > 0);
  const { items = 0, publishedBytes = null } = before ?? {};
  return {
    stages,
    requests: sum(stages.map(({ requests }) => requests)),
    bytes: sumOfKnown(stages.map(({ bytes }) => bytes)),
    milliseconds: sumOfKnown(stages.map(({ milliseconds }) => milliseconds)),
    publishedBytes: publishedBytes && Math.round(publishedBytes * growth(tonight.items, items)),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);

/** Null where none of them is known. */
function sumOfKnown(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((each) => each !== null);
  return known.length === 0 ? null : sum(known);
}

/** Of something that goes with the number of items. */
export function growth(items: number, before: number): number {
  return before === 0 ? 1 : items / before;
}

function pagesOf(mode: ListMode, { items, perPage, pageSizes, granted }: Tonight): number {
  const [smallest = 1] = PAGE_SIZES;
  const size = perPage === "auto" ? (pageSizes[mode] ?? smallest) : perPage;
  return Math.max(1, Math.ceil(items / Math.min(size, granted)));
}

/** Where no run before tells, one larger size is tried and not granted. */
function triesOf({ perPage, items }: Tonight, before: RunBefore | undefined): number {
  if (perPage !== "auto") return 0;
  const [smallest = 1] = PAGE_SIZES;
  return before?.tries ?? (items > smallest ? 1 : 0);
}

/** As many bytes and as much time a request as the same took in the run before, held to the rate. */
function stageOf(
  stage: string,
  { mode, requests }: { readonly mode: Mode; readonly requests: number },
  { ratePerSecond, concurrency }: Tonight,
  before: RunBefore | undefined,
): StageForecast {
  const spent = before?.spent[mode];
  const perRequest = (of: (each: Spent) => number) =>
    spent === undefined || spent.requests === 0 ? null : of(spent) / spent.requests;
  const takenMs = perRequest(({ milliseconds }) => milliseconds);
  const pausedMs = ratePerSecond === null ? null : 1000 / ratePerSecond;
  const isKnown = takenMs !== null || pausedMs !== null;
  const bytes = perRequest((each) => each.bytes);
  return {
    stage,
    requests,
    bytes: bytes === null ? null : Math.round(bytes * requests),
    milliseconds: isKnown
      ? Math.round(requests * Math.max(pausedMs ?? 0, (takenMs ?? 0) / concurrency))
      : null,
  };
}

interface Settings {
  readonly rereadDays: number;
  /** Whether all single items are asked for because a person said so. */
  readonly reread: boolean;
  /** Whether the run keeps its raw documents. */
  readonly raw: boolean;
  readonly singles: Singles;
}

export function forecastSection(forecast: Forecast, settings: Settings): Section {
  const { stages, publishedBytes } = forecast;
  const disk = publishedBytes === null ? "" : `About ${fileSize(publishedBytes)} would be published.`;
  const lead = [disk, singlesText(forecast, settings)].filter((sentence) => sentence !== "").join(" ");
  return section({
    key: "forecast",
    title: "What a run would ask for",
    lead: lead === "" ? undefined : lead,
    columns: FORECAST,
    rows: stages,
  });
}

/** What the sentences say, for programs. Null: nobody can tell. */
export function forecastFacts(
  { requests, bytes, milliseconds, publishedBytes }: Forecast,
  { wanted, reused, whyNone }: Singles,
): Answer["facts"] {
  const settings = whyNone?.kind === "settings" ? whyNone.names : [];
  return {
    forecast_totals: { requests, bytes, milliseconds, published_bytes: publishedBytes },
    single_items: { wanted, reused, none_reused_for: whyNone?.kind ?? null, other_settings: settings },
  };
}

export function forecastText(
  { stages, requests, bytes, milliseconds }: Forecast,
  ratePerSecond: Tonight["ratePerSecond"],
): string {
  const asked = `about ${count(requests)}`;
  if (milliseconds === null)
    return `${asked}; without a run before and without \`ratePerSecond\` nobody can tell how long they take`;
  const received = bytes === null ? "" : `, ${megabytes(bytes)},`;
  const rate = ratePerSecond === null ? "" : ` at ${count(ratePerSecond)} a second`;
  const unknown =
    bytes === null ? [] : stages.filter((each) => each.bytes === null).map(({ stage }) => stage);
  const what = ratePerSecond === null ? "how many bytes and how long" : "how many bytes";
  const besides =
    unknown.length === 0
      ? ""
      : `, and ${what} ${unknown.join(" and ")} take, of which the run before asked for none, nobody can tell`;
  return `${asked}${received} in ${duration(milliseconds / 1000)}${rate}${besides}`;
}

/** What is saved or why nothing is; where single items are the most, what `rereadDays` would save. */
function singlesText({ requests }: Forecast, { singles, rereadDays, reread, raw }: Settings): string {
  const { wanted, reused, whyNone } = singles;
  const most = "Single items are the most of it";
  if (wanted === 0 || reread) return "";
  if (reused > 0)
    return `\`rereadDays\` ${rereadDays} saves ${count(reused)} of ${counted(wanted, "single item")}.`;
  if (whyNone !== null)
    return `No single item of the run before can be reused: ${whyNoneText(whyNone, raw)}.`;
  if (2 * wanted < requests) return "";
  if (!raw)
    return `${most}, and of each night to come: with \`raw\` false no run keeps what the next could reuse.`;
  if (rereadDays === 0)
    return `${most}: with \`rereadDays\` 7 those that do not change are asked for once a week.`;
  const nightly = counted(Math.ceil(wanted / rereadDays), "request");
  return `${most}: from the next run on, as long as nothing changes, \`rereadDays\` ${rereadDays} makes them about ${nightly} a night.`;
}

const WHY_NONE = {
  ...WHY_NONE_TEXTS,
  due: "all are due",
  changed: "all items changed in it, and may again",
} as const;

function whyNoneText(why: NonNullable<Singles["whyNone"]>, raw: boolean): string {
  if (why.kind === "damaged") return why.finding;
  if (why.kind === "settings") return otherSettingsText(why.names);
  if (why.kind !== "no_documents") return WHY_NONE[why.kind];
  const next = raw ? "" : ", and with `raw` false none will";
  return `${WHY_NONE.no_documents}${next}`;
}
