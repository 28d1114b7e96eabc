/** A content set that is ready to be served. */
import { z } from "zod";
import { fullCustomField } from "../api/custom-field.ts";
import { WarehouseError } from "../common/errors.ts";
import {
  type ContentType,
  type CustomField,
  type Document,
  type ServedDefinitions,
  sortableInstant,
  type User,
} from "./content-set.ts";
import { JsonText } from "./json-text.ts";

/** Documents of a content set by position: 0 is the oldest. */
export interface DocumentStore {
  readonly count: number;
  /** The documents at these positions, in this order. */
  read(positions: readonly number[]): Promise<Document[]>;
  close(): Promise<void>;
}

/** A content type for the views. `json`: the object that all views show. */
function indexType({ file_format, ...shown }: ContentType) {
  return { bodyType: shown.body_type, fileFormat: file_format, json: JsonText.of(shown) };
}

/** A user in the three forms that views show. */
export type UserViews = ReturnType<typeof userViews>;

function userViews(user: User) {
  const { name_sort, removed, role, group_ids, ...plain } = user;
  const { superadmin, ...dynamic } = plain;
  const extended = { ...dynamic, superadmin, name_sort, removed, role, group_ids };
  return {
    user,
    /** `last_updated_by` in full. */
    plain: JsonText.of(plain),
    /** `author_details` and `creator_details` of the dynamic set, without `superadmin`. */
    dynamic: JsonText.of(dynamic),
    /** `last_updated_by_details` and `owner_details` in full. */
    extended: JsonText.of(extended),
  };
}

/** IDs and times of all documents, to find and to order them without reading them. Positions count from 0. */
export class DocumentOutline {
  /** Instants as {@link sortableInstant} makes them. */
  readonly createdAt: string[] = [];
  readonly updatedAt: string[] = [];
  /** Private documents, by position. */
  readonly restricted = new Map<number, PrivateAccess>();
  readonly #byId = new Map<string, number>();
  readonly #bySlug = new Map<string, number>();

  get count(): number {
    return this.createdAt.length;
  }

  /** Adds the next document. Throws `config.content_set` for an ID or a slug that another document has. */
  add(document: Document): void {
    const position = this.count;
    claim(this.#byId, document.id, position, "id");
    claim(this.#bySlug, document.slug, position, "slug");
    this.createdAt.push(sortableInstant(document.created_at));
    this.updatedAt.push(sortableInstant(document.updated_at));
    if (document.acl?.access_summary === "PRIVATE") this.restricted.set(position, privateAccess(document));
  }

  /** Position of the item with this ID or, failing that, this slug. */
  find(idOrSlug: string): number | undefined {
    return this.#byId.get(idOrSlug) ?? this.#bySlug.get(idOrSlug);
  }
}

/** Users and groups who may see a private item. */
export type PrivateAccess = ReturnType<typeof privateAccess>;

function privateAccess({ acl, author, creator, owner }: Document) {
  const involved = [author, creator, owner].filter((id) => typeof id === "string");
  return { userIds: new Set([...(acl?.user_ids ?? []), ...involved]), groupIds: acl?.group_ids ?? [] };
}

function claim(taken: Map<string, number>, key: string, position: number, what: "id" | "slug"): void {
  const first = taken.get(key);
  if (first !== undefined) {
    throw new WarehouseError(
      "config.content_set",
      `Documents ${first + 1} and ${position + 1} of the content set have the same ${what} ${JSON.stringify(key)}; each must have its own.`,
    );
  }
  taken.set(key, position);
}

/** A content set in memory. Close it after use. */
export type ContentSet = ReturnType<typeof assembleContentSet>;

/** Assembles a content set. Its `close` closes the store. */
export function assembleContentSet(
  documents: DocumentStore,
  outline: DocumentOutline,
  shared: ServedDefinitions,
) {
  const { contentTypes, users, campaigns, customFields, destinations, tokens, instance } = shared;
  return {
    documents,
    outline,
    contentTypes: new Map(contentTypes.map((type) => [type.id, indexType(type)])),
    users: new Map(users.map((user) => [user.id, userViews(user)])),
    campaigns: new Map(campaigns.map((campaign) => [campaign.id, JsonText.of(campaign)])),
    fields: indexFields(customFields, contentTypes, instance.id),
    destinations,
    /** Token to user ID. */
    tokens: new Map(tokens.map(({ token, user_id }) => [token, user_id])),
    instance,
    close: () => documents.close(),
  };
}

/** Indexes the custom field definitions of a content set. */
function indexFields(definitions: readonly CustomField[], types: readonly ContentType[], instanceId: string) {
  const all = definitions.map((definition) => indexField(definition, instanceId));
  const carriedBy = (typeId: string) =>
    new Set(all.filter(({ definition }) => definition.content_types?.includes(typeId) ?? true));
  return {
    all,
    byId: new Map(all.map((field) => [field.definition.id, field])),
    /** Content type ID to the fields of its items, in source order. */
    byContentType: new Map(types.map(({ id }) => [id, carriedBy(id)])),
    /** Fields of items whose content type is not in the set. */
    carriedByAll: new Set(all.filter(({ definition }) => definition.content_types === undefined)),
  };
}

/** A custom field definition with the lookup tables that views need. */
export type FieldEntry = ReturnType<typeof indexField>;

function indexField(definition: CustomField, instanceId: string) {
  const values = definition.formatted_select_values;
  const texts = (values ?? []).map(({ id, value }) => [value, id] as const);
  const displays = (values ?? []).map(({ id, display }) => [display, id] as const);
  return {
    definition,
    /** Value ID to the text that it is shown as; undefined for fields without select values. */
    textById: values && new Map(values.map(({ id, value }) => [id, value])),
    /** Text of a select value (`value` before `display`) to its ID; the first in source order. */
    idByText: new Map([...texts, ...displays].reverse()), // a map keeps the last of several entries
    /** IDs in the field's mappings, which may not be select values of the field. */
    mappedIds: new Set(definition.mappings.flatMap((mapping) => mapping.values.map((v) => v.value_id))),
    isFile: definition.field_type === "file" || definition.field_type === "image",
    /** Entry of `custom_fields` in full, as JSON up to the place of its value. */
    fullEntry: `${JSON.stringify(fullEntry(definition, instanceId)).slice(0, -1)},"value":`,
  };
}

const fullFields = z.object(fullCustomField.shape);

function fullEntry(definition: CustomField, instanceId: string): object {
  const values = definition.formatted_select_values;
  return fullFields.parse({
    ...definition,
    ...(values && { select_values: values.map(({ value }) => value) }),
    select_value_ids: selectValueIds(definition),
    archived_value_ids: (values ?? []).filter(({ archived }) => archived).map(({ id }) => id),
    newsroom_id: instanceId,
  });
}

/** Value ID to text; `null` for date fields, an empty object for others without select values. */
function selectValueIds({ field_type, formatted_select_values }: CustomField): object | null {
  if (formatted_select_values) {
    return Object.fromEntries(formatted_select_values.map(({ id, value }) => [id, value]));
  }
  return field_type === "date" ? null : {};
}
