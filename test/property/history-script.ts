import type { FieldDefinition, SelectValue } from "../../src/audit/mapping/definitions.ts";
import type { MappingWorld } from "../load/mapping-tables.ts";
import fc from "../properties.ts";

/** A small warehouse's worth of content that an edit script can change; what it does not have is not in it. */
export interface Draft {
  readonly types: Map<string, string>;
  readonly selectValues: Map<string, SelectValue[]>;
  /** By `field destination`: the external field name and the entries, by value ID. */
  readonly mappings: Map<string, { name: string; readonly entries: Map<string, string | null> }>;
  readonly supports: Map<string, boolean>;
  /** By item, by field: what the item gives, with nulls where it gives nothing. */
  readonly items: Map<string, Map<string, (string | null)[]>>;
  /** Items that are gone, with what they gave. */
  readonly gone: Map<string, Map<string, (string | null)[]>>;
}

const ITEMS = ["i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"] as const;
const FIELDS = ["f0", "f1", "f2"] as const;
const DESTINATIONS = ["d0", "d1"] as const;
const VALUES = ["v0", "v1", "v2"] as const;
/** Value IDs, texts of values, and a text that is none. */
const INPUTS = ["v0", "v1", "v2", "text of v0", "text of v1", "free", null] as const;

/** Numbers that an edit takes its choices from. */
type Choices = readonly [number, number, number, number];

export interface Edit {
  readonly kind: keyof typeof EDITS;
  readonly choices: Choices;
}

const pick = <T>(from: readonly T[], choice: number): T => {
  const found = from[choice % from.length];
  if (found === undefined) throw new TypeError("nothing to pick from");
  return found;
};

/** What each edit does. */
const EDITS = {
  item_values(draft: Draft, [item, field, first, second]: Choices) {
    const inputs = draft.items.get(pick(ITEMS, item));
    const list = [pick(INPUTS, first), pick(INPUTS, second), pick(INPUTS, first + second)];
    inputs?.set(pick(FIELDS, field), list.slice(0, (first * 7 + second) % 4));
  },
  item_order(draft: Draft, [item, field]: Choices) {
    draft.items.get(pick(ITEMS, item))?.get(pick(FIELDS, field))?.reverse();
  },
  item_copies(draft: Draft, [item, field, which, how]: Choices) {
    const list = draft.items.get(pick(ITEMS, item))?.get(pick(FIELDS, field)) ?? [];
    if (list.length === 0) return;
    const copied = pick(list, which);
    if (how % 3 !== 0) list.push(copied);
    else if (list.indexOf(copied) < list.lastIndexOf(copied)) list.splice(list.lastIndexOf(copied), 1);
  },
  entry(draft: Draft, [field, destination, value, to]: Choices) {
    const mapping = draft.mappings.get(`${pick(FIELDS, field)} ${pick(DESTINATIONS, destination)}`);
    if (to % 3 === 0) mapping?.entries.delete(pick(VALUES, value));
    else mapping?.entries.set(pick(VALUES, value), to % 5 === 4 ? null : `external ${to % 5}`);
  },
  external_field_name(draft: Draft, [field, destination, to]: Choices) {
    const mapping = draft.mappings.get(`${pick(FIELDS, field)} ${pick(DESTINATIONS, destination)}`);
    if (mapping !== undefined) mapping.name = `name ${to % 3}`;
  },
  mapping(draft: Draft, [field, destination, to]: Choices) {
    const at = `${pick(FIELDS, field)} ${pick(DESTINATIONS, destination)}`;
    if (!draft.mappings.delete(at)) {
      draft.mappings.set(at, { name: `name ${to % 3}`, entries: new Map([["v0", "external 9"]]) });
    }
  },
  select_value(draft: Draft, [field, value, how, to]: Choices) {
    const values = draft.selectValues.get(pick(FIELDS, field)) ?? [];
    const valueId = pick(VALUES, value);
    const at = values.findIndex((each) => each.valueId === valueId);
    const found = values[at];
    if (found === undefined) {
      values.push({ valueId, display: `text of ${valueId}`, value: `text of ${valueId}`, archived: false });
    } else if (how % 3 === 0) values.splice(at, 1);
    else if (how % 3 === 1) values[at] = { ...found, archived: !found.archived };
    else values[at] = { ...found, value: `text ${to % 4}` };
  },
  field_type(draft: Draft, [field, to]: Choices) {
    draft.types.set(pick(FIELDS, field), pick(["select", "multiselect", "text"], to));
  },
  destination(draft: Draft, [destination]: Choices) {
    const id = pick(DESTINATIONS, destination);
    draft.supports.set(id, draft.supports.get(id) !== true);
  },
  item_presence(draft: Draft, [item]: Choices) {
    // Few items, so that some come back.
    const id = pick(ITEMS.slice(0, 2), item);
    const [from, to] = draft.items.has(id) ? [draft.items, draft.gone] : [draft.gone, draft.items];
    const values = from.get(id);
    if (values === undefined) return;
    from.delete(id);
    to.set(id, values);
  },
};

export function applyEdit(draft: Draft, { kind, choices }: Edit): void {
  EDITS[kind](draft, choices);
}

const choice = fc.nat(1000);
const choices = fc.tuple(choice, choice, choice, choice);

export const editScript: fc.Arbitrary<Edit[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...(Object.keys(EDITS) as (keyof typeof EDITS)[])),
    choices,
  }),
  { maxLength: 5 },
);

/** Something of everything: two fields of values, one of text; each mapped at one destination at least. */
export function firstDraft(seed: Choices): Draft {
  const draft: Draft = {
    types: new Map([
      ["f0", "multiselect"],
      ["f1", "select"],
      ["f2", "text"],
    ]),
    selectValues: new Map(
      FIELDS.map((field) => [
        field,
        VALUES.map((valueId) => ({
          valueId,
          display: `text of ${valueId}`,
          value: `text of ${valueId}`,
          archived: false,
        })),
      ]),
    ),
    mappings: new Map([
      ["f0 d0", { name: "name 0", entries: new Map([["v0", "external 0"]]) }],
      ["f1 d0", { name: "name 1", entries: new Map([["v1", "external 1"]]) }],
      ["f1 d1", { name: "name 1", entries: new Map() }],
      ["f2 d1", { name: "name 2", entries: new Map() }],
    ]),
    supports: new Map([
      ["d0", true],
      ["d1", false],
    ]),
    items: new Map(ITEMS.map((item) => [item, new Map(FIELDS.map((field) => [field, []]))])),
    gone: new Map(),
  };
  for (const at of ITEMS.keys()) {
    for (const place of FIELDS.keys()) {
      const numbers: Choices = [at, place, seed[at % 4] ?? 0, (seed[place] ?? 0) + at];
      applyEdit(draft, { kind: "item_values", choices: numbers });
    }
    if (((seed[3] ?? 0) >> at) % 4 === 3) applyEdit(draft, { kind: "item_presence", choices: [at, 0, 0, 0] });
  }
  return draft;
}

export const seed: fc.Arbitrary<Choices> = choices;

/** What a run of the night sees. A field whose definition was not looked up has neither mappings nor values. */
export function worldOf(
  draft: Draft,
  { hidden, notLookedUp }: { hidden: ReadonlySet<string>; notLookedUp: ReadonlySet<string> },
): MappingWorld {
  const fields = FIELDS.map((customFieldId): FieldDefinition => {
    const unknown = notLookedUp.has(customFieldId);
    return {
      customFieldId,
      name: customFieldId,
      fieldType: draft.types.get(customFieldId) ?? null,
      selectValues: unknown ? [] : [...(draft.selectValues.get(customFieldId) ?? [])],
      mappings: unknown ? [] : mappingsOf(draft, customFieldId),
    };
  });
  return {
    fields,
    destinations: [...draft.supports].map(([destinationId, supportsMappings]) => ({
      destinationId,
      identification: destinationId,
      supportsMappings,
    })),
    items: [...draft.items]
      .filter(([contentId]) => !hidden.has(contentId))
      .map(([contentId, given]) => ({
        contentId,
        values: [...given].flatMap(([customFieldId, inputs]) =>
          inputs.map((input, ordinal) => ({
            customFieldId,
            ordinal,
            input,
            inputIsId: input?.startsWith("v") === true,
            text: input === null ? null : `own text of ${input}`,
          })),
        ),
      })),
  };
}

function mappingsOf(draft: Draft, customFieldId: string): FieldDefinition["mappings"] {
  return DESTINATIONS.flatMap((destinationId) => {
    const mapping = draft.mappings.get(`${customFieldId} ${destinationId}`);
    if (mapping === undefined) return [];
    const mappingId = `m ${customFieldId} ${destinationId}`;
    const entries = [...mapping.entries].map(([valueId, externalValue]) => ({
      mappingValueId: `e ${mappingId} ${valueId}`,
      valueId,
      externalValue,
    }));
    return [{ mappingId, destinationId, externalFieldName: mapping.name, entries }];
  });
}

export const FIELD_IDS: readonly string[] = FIELDS;
export const ITEM_IDS: readonly string[] = ITEMS;
