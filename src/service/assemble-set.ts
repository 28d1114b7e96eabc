import { WarehouseError } from "../common/errors.ts";
import type { ContentType, Document, ServedDefinitions, User } from "./content-set.ts";
import { indexFields } from "./field-index.ts";
import { sortableInstant } from "./instant.ts";
import { JsonText } from "./json-text.ts";

/** Documents of a content set by position: 0 is the oldest. */
export interface DocumentStore {
  readonly count: number;
  /** The documents at these positions, in this order. */
  read(positions: readonly number[]): Promise<Document[]>;
  close(): Promise<void>;
}

/** What the views need of a content type. `json`: the content type object of all views. */
function indexType({ file_format, ...shown }: ContentType) {
  return { bodyType: shown.body_type, fileFormat: file_format, json: JsonText.of(shown) };
}

/** A user in the three forms of the wire, made once. */
export type UserViews = ReturnType<typeof userViews>;

function userViews(user: User) {
  const { name_sort, removed, role, group_ids, ...plain } = user;
  const { superadmin, ...dynamic } = plain;
  const extended = { ...dynamic, superadmin, name_sort, removed, role, group_ids };
  return {
    user,
    /** `last_updated_by` in full. */
    plain: JsonText.of(plain),
    /** `author_details` and `creator_details` of the dynamic set, which do not say who is a superadmin. */
    dynamic: JsonText.of(dynamic),
    /** `last_updated_by_details` and `owner_details` in full. */
    extended: JsonText.of(extended),
  };
}

/** What is kept in memory of each document, to find and to order without reading it. Positions count from 0. */
export class DocumentOutline {
  /** Instants as `sortableInstant` makes them. */
  readonly createdAt: string[] = [];
  readonly updatedAt: string[] = [];
  /** Documents that not everybody may see, by position. */
  readonly restricted = new Map<number, PrivateAccess>();
  readonly #byId = new Map<string, number>();
  readonly #bySlug = new Map<string, number>();

  get count(): number {
    return this.createdAt.length;
  }

  /** Adds the next document; an ID or a slug that was seen before is a configuration error. */
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

/** Who may see a private item: these users, and the members of these groups. */
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

/** A content set that is ready to be served. Close it when it is no longer. */
export type ContentSet = ReturnType<typeof assembleContentSet>;

/** Puts a content set together. `close` ends the store. */
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
