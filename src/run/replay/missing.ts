/** What a pipeline needs of a run, and the run did not ask for: then it cannot be built from its raw documents. */
import { firstOf } from "../../common/nearest.ts";
import type { Wishes } from "../../config/config.ts";
import { wantedBy } from "../../extract/wanted-columns.ts";
import type { Pipeline } from "../../pipeline.ts";
import type { ExtractRecord } from "../../raw/extract-record.ts";
import type { RawLookups } from "../../raw/raw-file.ts";

const EXTENT = ["none", "events", "all"] as const;

/** What a run asked for, and what it was answered to lookups. */
interface Answered {
  readonly facts: ExtractRecord;
  readonly lookups: RawLookups;
}

/** In words; empty: nothing. */
export function missingFor(pipeline: Pipeline, wishes: Wishes, answered: Answered): string[] {
  const { asked } = answered.facts;
  const { columns, details } = wantedBy(pipeline, wishes);
  const nameOf = (aliases: Wishes["aliases"]) => (column: string) => aliases[column] ?? column;
  const had = new Set(asked.columns.map(nameOf(asked.aliases)));
  const isLess = EXTENT.indexOf(details) > EXTENT.indexOf(asked.singleItems);
  return [
    ...pipeline.listings
      .filter((shape) => !asked.shapes.includes(shape))
      .map((shape) => `the listing ${shape}`),
    ...named(
      "column",
      columns.map(nameOf(wishes.aliases)).filter((column) => !had.has(column)),
    ),
    ...(isLess ? [`single items of ${details === "all" ? "all items" : details}`] : []),
    ...named("destination", missingDestinations(pipeline, wishes, answered)),
    ...missingDefinitions(pipeline, wishes, answered),
  ];
}

function missingDestinations(
  { destinations }: Pipeline,
  wishes: Wishes,
  { facts: { asked } }: Answered,
): string[] {
  if (asked.allDestinations) return [];
  const isAsked = (name: string, platform: string) =>
    asked.destinations.some((each) => each.name === name && each.platform === platform);
  return (destinations ?? wishes.destinations)
    .filter(({ name, platform }) => !isAsked(name, platform))
    .map(({ name }) => name);
}

function missingDefinitions(
  { customFields }: Pipeline,
  wishes: Wishes,
  { facts, lookups }: Answered,
): string[] {
  const { asked, unmatched } = facts;
  if (customFields === undefined) return [];
  if (!asked.definitions) return ["the definitions of custom fields"];
  const answered = lookups.definitions.map(({ answer }) => answer.name);
  const had = new Set([...answered, ...unmatched.customFields]);
  return named(
    "custom field",
    [...customFields, ...wishes.customFields].filter((name) => !had.has(name)),
  );
}

const NAMED = 5;

/** `the columns a, b`. */
function named(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  return [`the ${what}${names.length === 1 ? "" : "s"} ${firstOf(names.toSorted(), NAMED)}`];
}
