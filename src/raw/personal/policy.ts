/**
 * The personal-data policy: what it does with a value, and with the fields that `personalFields` in the configuration names.
 * These are custom fields and API fields; their values are treated in any place, and no part of a value is kept.
 */
import { createHmac } from "node:crypto";
import { WarehouseError } from "../../common/errors.ts";
import { isObject, type JsonObject } from "../../common/json.ts";
import { printable } from "../../common/printable.ts";
import { DATA_TABLES } from "../../tables/all.ts";
import { shapeOf } from "../document.ts";

export interface PersonalFields {
  /** Names in the configuration, as in the specification. */
  readonly names: readonly string[];
  /** ID and name of the custom fields with these names. */
  readonly customFields: readonly (readonly [id: string, name: string])[];
}

/** Returns the replacement of a personal value; `undefined` drops it. */
export type PersonalTreatment = (field: string, value: unknown) => unknown;

export const PERSONAL_POLICIES = ["drop", "hash", "keep"] as const;
export type PersonalPolicy = (typeof PERSONAL_POLICIES)[number];

export interface PolicySettings {
  readonly policy: PersonalPolicy;
  /** 32 bytes or more; for `hash` only. */
  readonly hashKey: Uint8Array | undefined;
  readonly fields: PersonalFields;
}

const MIN_KEY_BYTES = 32;
/** Hashes to remember, about 2 MB: most documents name the same few people. */
const MAX_KNOWN_HASHES = 10_000;

/**
 * Keyed hash of a value as 64 hex digits: HMAC-SHA-256 over the field's name, a NUL and the value in NFC, trimmed, e-mail
 * addresses in lower case. A person has one hash in each field.
 */
export function personalHash(key: Uint8Array, field: string, value: string): string {
  const trimmed = value.normalize("NFC").trim();
  const normal = /e_?mail/i.test(field) ? trimmed.toLowerCase() : trimmed;
  return createHmac("sha256", key).update(`${field}\u0000${normal}`).digest("hex");
}

export type ActivePolicy = NonNullable<ReturnType<typeof activePolicy>>;

/** How personal values are treated; `undefined` if everything is kept. `kind`: the drift that a treated value counts as. */
export function activePolicy({ policy, hashKey, fields }: PolicySettings) {
  if (policy === "keep") return undefined;
  const [treat, kind] =
    policy === "hash"
      ? ([hashing(hashKey), "personal_hashed"] as const)
      : ([() => undefined, "personal_dropped"] as const);
  return { treat, kind, fields: new FieldPolicy(fields, policy, treat) };
}

function hashing(key: Uint8Array | undefined): PersonalTreatment {
  if (key === undefined || key.length < MIN_KEY_BYTES) throw new TypeError("a hash key has 32 bytes or more");
  const known = new Map<string, string>();
  return (field, value) => {
    if (value === null || value === "") return value;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const named = `${field}\u0000${text}`;
    let hash = known.get(named);
    if (hash === undefined) {
      if (known.size === MAX_KNOWN_HASHES) known.clear();
      hash = personalHash(key, field, text);
      known.set(named, hash);
    }
    return hash;
  };
}

/** Receives the path of a treated value. */
type Treated = (path: string) => void;

const bare = (path: string): string => path.replaceAll("[]", "");

/** For each path of an item's API field, all paths that give the same columns, such as `author` and `assignee_id`. */
const ITEM_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = itemFields();

function itemFields(): Map<string, Set<string>> {
  const fields = new Map<string, Set<string>>();
  const pathsOf = (path: string): Set<string> => {
    const known = fields.get(path) ?? new Set([path]);
    fields.set(path, known);
    return known;
  };
  for (const { origins } of DATA_TABLES.flatMap(({ columns }) => columns)) {
    const paths = origins.filter((origin) => shapeOf(origin) !== undefined).map(({ path }) => bare(path));
    for (const path of paths) {
      for (const other of paths) pathsOf(path).add(other);
      // The objects above a field are fields too.
      const steps = path.split(".");
      for (let length = 1; length < steps.length; length++) pathsOf(steps.slice(0, length).join("."));
    }
  }
  return fields;
}

/** Names of all fields of an item in the specification: `owner`, `attachments.filename`. */
export const ITEM_FIELD_NAMES: readonly string[] = [...ITEM_FIELDS.keys()];

/** Members with values of custom fields: maps by ID, or lists of objects with an ID. */
export const CUSTOM_FIELD_PLACES: ReadonlySet<string> = new Set([
  "custom_fields",
  "custom_field_values",
  "custom_field_value_ids",
  "custom_fields_details",
  "previewable_custom_field_values",
]);

/** Attributes that describe a custom field and are not its value. */
const DESCRIPTIVE: ReadonlySet<string> = new Set([
  "id",
  "name",
  "field_type",
  "display_label",
  "html",
  "created_at",
  "updated_at",
  "options",
  "newsroom_id",
  "visible_in_previews",
  "visible_in_insights",
  "instructions",
  "mappings",
]);

/** Changes documents in place. */
class FieldPolicy {
  /** Top-level members of an item in which a value may be treated. */
  readonly members: ReadonlySet<string>;
  readonly #drops: boolean;
  readonly #treat: PersonalTreatment;
  readonly #custom: ReadonlyMap<string, string>;
  readonly #names: ReadonlySet<string>;
  readonly #api: readonly {
    readonly name: string;
    readonly path: string;
    readonly steps: readonly string[];
  }[];

  constructor({ names, customFields }: PersonalFields, policy: "drop" | "hash", treat: PersonalTreatment) {
    this.#drops = policy === "drop";
    this.#treat = treat;
    this.#custom = new Map(customFields);
    this.#names = new Set(names.map(bare));
    const named = [...this.#names].flatMap((name) =>
      [...(ITEM_FIELDS.get(name) ?? [])].map((path): [string, string] => [path, name]),
    );
    // If several names cover a value, the hash of the first applies.
    const paths = new Map(named.toReversed());
    this.#api = [...paths].map(([path, name]) => ({ name, path, steps: path.split(".") }));
    const places = this.#names.size === 0 ? [] : CUSTOM_FIELD_PLACES;
    this.members = new Set([...places, ...this.#api.map(({ steps }) => steps[0] ?? "")]);
  }

  /** Treats an unknown field if it is covered, by its name or by a custom field's ID. Returns whether it is. */
  unknown(parent: JsonObject, path: readonly string[]): boolean {
    const key = path.at(-1) ?? "";
    // Values under an ID in the members of custom fields were treated by `item`.
    const isCustom = this.#custom.has(key) && !CUSTOM_FIELD_PLACES.has(path[0] ?? "");
    if (!isCustom && !this.#names.has(key)) return false;
    setOrDelete(parent, key, this.#value(this.#custom.get(key) ?? key, parent[key]));
    return true;
  }

  item(document: JsonObject, treated: Treated): void {
    if (this.#names.size === 0) return;
    for (const place of CUSTOM_FIELD_PLACES) this.#place(document[place], place, treated);
    for (const { name, path, steps } of this.#api)
      visit(document, steps, (parent, key) => {
        setOrDelete(parent, key, this.#value(name, parent[key]));
        treated(path);
      });
  }

  /** Treats a custom field's definition in a lookup or in an item. */
  definition(definition: JsonObject, treated: Treated): void {
    const name = this.#nameOfField(definition);
    if (name === undefined) return;
    this.#field(definition, name);
    treated(name);
  }

  /** Treats the custom fields in a member, whatever its form. */
  #place(value: unknown, place: string, treated: Treated): void {
    if (Array.isArray(value)) for (const element of value) this.#place(element, place, treated);
    if (!isObject(value)) return;
    for (const [id, name] of this.#custom) {
      if (!Object.hasOwn(value, id)) continue;
      setOrDelete(value, id, this.#value(name, value[id]));
      treated(`${place}.${name}`);
    }
    this.definition(value, (name) => treated(`${place}.${name}`));
  }

  /**
   * Throws `source.protocol` for a field with a personal name that the lookup did not return: values under its ID may have
   * landed already.
   */
  #nameOfField({ id, name }: JsonObject): string | undefined {
    const known = typeof id === "string" ? this.#custom.get(id) : undefined;
    if (known !== undefined || typeof name !== "string" || !this.#names.has(name)) return known;
    if (typeof id === "string" && id !== "")
      throw new WarehouseError(
        "source.protocol",
        `A custom field "${printable(name, 60)}" of \`personalFields\` has the ID ${printable(id, 60)}, which was unknown when the run began; nothing was published, run again.`,
      );
    return name;
  }

  #field(field: JsonObject, name: string): void {
    for (const key of Object.keys(field)) {
      if (DESCRIPTIVE.has(key)) continue;
      const value = field[key];
      if (key === "formatted_select_values") setOrDelete(field, key, this.#objects(name, value, "archived"));
      else if (key === "select_value_ids" && isObject(value))
        setOrDelete(field, key, this.#byValueId(name, value));
      else setOrDelete(field, key, this.#value(name, value));
    }
    for (const mapping of Array.isArray(field.mappings) ? field.mappings : []) {
      if (!isObject(mapping) || !Object.hasOwn(mapping, "values")) continue;
      setOrDelete(mapping, "values", this.#objects(name, mapping.values, "id"));
    }
  }

  /** Hashes all attributes of objects in a list but `kept`; drops the list if values are dropped. */
  #objects(name: string, list: unknown, kept: string): unknown {
    if (this.#drops || list === null) return this.#drops ? undefined : null;
    return (Array.isArray(list) ? list : [list]).map((element) => {
      if (!isObject(element)) return this.#value(name, element);
      const entries = Object.entries(element);
      return Object.fromEntries(
        entries.map(([key, value]) => [key, key === kept ? value : this.#value(name, value)]),
      );
    });
  }

  #byValueId(name: string, texts: JsonObject): JsonObject | undefined {
    if (this.#drops) return undefined;
    return Object.fromEntries(
      Object.entries(texts).map(([id, text]) => [this.#value(name, id), this.#value(name, text)]),
    );
  }

  /** Hashes each element of a list by itself, so that an ID has the same hash in a list and alone. */
  #value(name: string, value: unknown): unknown {
    if (this.#drops || !Array.isArray(value)) return this.#treat(name, value);
    return value.map((element) => this.#treat(name, element));
  }
}

/** Visits every object that has the last step, in lists or alone; `{...}` is any key. */
function visit(
  value: unknown,
  steps: readonly string[],
  found: (parent: JsonObject, key: string) => void,
): void {
  if (Array.isArray(value)) for (const element of value) visit(element, steps, found);
  const [step, ...rest] = steps;
  if (!isObject(value) || step === undefined) return;
  if (step.startsWith("{")) for (const inner of Object.values(value)) visit(inner, rest, found);
  else if (rest.length > 0) visit(value[step], rest, found);
  else if (Object.hasOwn(value, step)) found(value, step);
}

export function setOrDelete(object: JsonObject, key: string, value: unknown): void {
  if (value === undefined) delete object[key];
  else object[key] = value;
}
