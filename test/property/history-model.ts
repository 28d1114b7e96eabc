import type { MappedValue } from "../../src/audit/mapped-value.ts";
import { type FieldDefinition, indexDefinitions } from "../../src/audit/mapping/definitions.ts";
import { CAUSES } from "../../src/tables/history.ts";
import { mapItem } from "../audit/mapping/procedure.ts";
import type { MappingWorld } from "../load/mapping-tables.ts";

/** A row of the mapped values as the history has it: with the run that its version began in, and why. */
export interface KnownRow {
  readonly row: MappedValue;
  readonly input: string;
  /** Sequence number. */
  readonly since: number;
  /** Run in which it came to its place. */
  readonly placeSince: number;
  readonly causes: readonly string[];
}

/** What is known after a run. */
export interface Known {
  readonly sequence: number;
  /** The definitions, with those that an unsettled run did not look up as they were. */
  readonly definitions: Omit<MappingWorld, "items">;
  readonly items: ReadonlyMap<string, KnownItem>;
  /** By destination: the run in which what it receives changed; none if it never did. */
  readonly destinationSince: ReadonlyMap<string, number>;
}

export interface KnownItem {
  readonly present: boolean;
  readonly lastSeen: number;
  /** The definitions when it was last seen. */
  readonly definitions: Omit<MappingWorld, "items">;
  /** What it gives, or gave when it was last there. */
  readonly rows: readonly KnownRow[];
}

export interface ModelNight {
  readonly sequence: number;
  readonly world: MappingWorld;
  /** Items that are not in the world, and are there. */
  readonly unseen: ReadonlySet<string>;
  readonly notLookedUp: ReadonlySet<string>;
}

const FAMILIES = ["mapping", "definition"] as const;
type Family = (typeof FAMILIES)[number];

/** What must be known after a night, by the per-item procedure and the definitions as they were. */
export function afterNight(before: Known | undefined, night: ModelNight): Known {
  const definitions = knownDefinitions(before, night);
  const items = new Map<string, KnownItem>();
  for (const [id, item] of before?.items ?? []) {
    const present = item.present && night.unseen.has(id);
    items.set(id, { ...item, present });
  }
  for (const { contentId } of night.world.items) {
    const known = before?.items.get(contentId);
    const rows = rowsOf(contentId, known, night);
    items.set(contentId, { present: true, lastSeen: night.sequence, definitions, rows });
  }
  const destinationSince = new Map(before?.destinationSince);
  for (const { destinationId, supportsMappings } of night.world.destinations) {
    const known = before?.definitions.destinations.find((each) => each.destinationId === destinationId);
    if (known !== undefined && known.supportsMappings !== supportsMappings)
      destinationSince.set(destinationId, night.sequence);
  }
  return { sequence: night.sequence, definitions, items, destinationSince };
}

/** Why the row of an interval began: its version, or only its destination or place. */
export function intervalCauses(
  known: Known,
  { row, since, placeSince, causes }: KnownRow,
): readonly string[] {
  const destinationSince = known.destinationSince.get(row.destinationId) ?? 0;
  const from = Math.max(since, placeSince, destinationSince);
  if (from === since) return causes;
  return [
    ...(from === destinationSince ? ["destination_changed"] : []),
    ...(from === placeSince ? ["reordered"] : []),
  ];
}

function knownDefinitions(
  before: Known | undefined,
  { world, notLookedUp }: ModelNight,
): Known["definitions"] {
  const fields = world.fields.map((field) => {
    const known = before?.definitions.fields.find((each) => each.customFieldId === field.customFieldId);
    if (known === undefined || !notLookedUp.has(field.customFieldId)) return field;
    return { ...field, mappings: known.mappings, selectValues: known.selectValues };
  });
  return { fields, destinations: world.destinations };
}

function rowsOf(contentId: string, known: KnownItem | undefined, night: ModelNight): KnownRow[] {
  const kept =
    known?.present === true ? known.rows.filter(({ row }) => night.notLookedUp.has(row.customFieldId)) : [];
  const mappedValues = ledgerOf(contentId, night.world, night.world);
  const found = mappedValues.map(({ row, input }, at): KnownRow => {
    const copy = mappedValues.slice(0, at).filter((other) => isSameValue(other, row, input)).length;
    const held = known?.rows.filter((each) => isSameValue(each, row, input)) ?? [];
    const same = held[copy];
    const isThere = same !== undefined && known?.present === true;
    const placeSince = isThere && same.row.ordinal === row.ordinal ? same.placeSince : night.sequence;
    if (isThere && isSameAnswer(same.row, row)) return { ...same, row, input, placeSince };
    // Of a value that the item had, and has once more.
    const isFurther = held.length > 0 && same === undefined;
    const goesOn = known?.present === true && held.some((each) => isSameAnswer(each.row, row));
    const causes = isFurther && goesOn ? [] : causesOf(row, input, known, night);
    return {
      row,
      input,
      since: night.sequence,
      placeSince,
      causes: isFurther ? withItemChanged(causes) : causes,
    };
  });
  return [...kept, ...found];
}

function withItemChanged(causes: readonly string[]): string[] {
  return CAUSES.filter((cause) => cause === "item_changed" || causes.includes(cause));
}

/** The mapped values of an item of a world by some definitions, each row with what the item gave. */
function ledgerOf(contentId: string, world: MappingWorld, by: Known["definitions"]) {
  const item = world.items.find((each) => each.contentId === contentId);
  if (item === undefined) return [];
  const definitions = indexDefinitions(by.fields, by.destinations);
  const { mappedValues } = mapItem(item, definitions, { passthrough: false });
  return mappedValues.map((row) => {
    const given = item.values.find(
      ({ customFieldId, ordinal }) => customFieldId === row.customFieldId && ordinal === row.ordinal,
    );
    return { row, input: given?.input ?? "" };
  });
}

function isSameValue(held: Pick<KnownRow, "row" | "input">, row: MappedValue, input: string): boolean {
  return (
    held.input === input &&
    held.row.destinationId === row.destinationId &&
    held.row.customFieldId === row.customFieldId
  );
}

function isSameAnswer(one: MappedValue, other: MappedValue): boolean {
  const answer = (row: MappedValue) => JSON.stringify({ ...row, ordinal: 0, destinationUnsupported: null });
  return answer(one) === answer(other);
}

function causesOf(
  row: MappedValue,
  input: string,
  known: KnownItem | undefined,
  night: ModelNight,
): string[] {
  if (known === undefined) return ["first_seen"];
  const bearing = FAMILIES.filter((family) => bears(family, row, known, night));
  const held = known.rows.filter((each) => each.row.customFieldId === row.customFieldId);
  const wasMapped = known.definitions.fields
    .find((field) => field.customFieldId === row.customFieldId)
    ?.mappings.some((mapping) => mapping.destinationId !== null);
  const isNew = wasMapped === true && !held.some((each) => each.input === input);
  const before = known.rows.find((each) => isSameValue(each, row, input));
  const differs = before === undefined || !isSameAnswer(before.row, row);
  const unexplained = differs && !isNew && bearing.length === 0;
  // Another field has the name too, or no longer.
  const meets =
    before !== undefined &&
    before.row.collision !== row.collision &&
    before.row.externalFieldName === row.externalFieldName;
  const causes = [
    ...(known.present ? [] : ["item_returned"]),
    ...(isNew || (unexplained && !meets) ? ["item_changed"] : []),
    ...bearing.map((family) => `${family}_changed`),
    ...(meets ? [row.collision ? "collision_began" : "collision_ended"] : []),
  ];
  return CAUSES.filter((cause) => causes.includes(cause));
}

/** Whether the row would be another, or would not be, had the family not changed since the item was last seen. */
function bears(family: Family, row: MappedValue, known: KnownItem, night: ModelNight): boolean {
  const by = withOld(family, night.world, known.definitions);
  const instead = ledgerOf(row.contentId, night.world, by).find(
    (each) =>
      each.row.destinationId === row.destinationId &&
      each.row.customFieldId === row.customFieldId &&
      each.row.ordinal === row.ordinal,
  );
  return instead === undefined || !isSameAnswer({ ...instead.row, collision: row.collision }, row);
}

function withOld(family: Family, now: MappingWorld, old: Known["definitions"]): Known["definitions"] {
  const fields = now.fields.map((field): FieldDefinition => {
    const was = old.fields.find((each) => each.customFieldId === field.customFieldId);
    if (family === "mapping") return { ...field, mappings: was?.mappings ?? [] };
    return { ...field, fieldType: was?.fieldType ?? null, selectValues: was?.selectValues ?? [] };
  });
  return { fields, destinations: now.destinations };
}

/** Whether what both have stands in another order; of repeated values, the first ones count as the same. */
export function orderDiffers(old: readonly string[], now: readonly string[]): boolean {
  const common = (from: readonly string[], other: readonly string[]) =>
    from.filter((key, at) => {
      const copy = from.slice(0, at).filter((each) => each === key).length;
      return other.filter((each) => each === key).length > copy;
    });
  return JSON.stringify(common(old, now)) !== JSON.stringify(common(now, old));
}
