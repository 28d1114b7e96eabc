import { WarehouseError } from "../common/errors.ts";
import type { ContentType, Destination, Document, Instance, SharedData, User } from "./content-set.ts";
import { type FieldIndex, indexFields } from "./field-index.ts";
import { sortableInstant } from "./instant.ts";
import { JsonText } from "./json-text.ts";

/** Documents of a content set by position: 0 is the oldest. */
export interface DocumentStore {
  readonly count: number;
  /** The documents at these positions, in this order. */
  read(positions: readonly number[]): Promise<Document[]>;
  close(): Promise<void>;
}

/** A content set that is ready to be served. Close it when it is no longer. */
export interface ContentSet {
  readonly documents: DocumentStore;
  readonly outline: Outline;
  readonly contentTypes: ReadonlyMap<string, IndexedType>;
  readonly users: ReadonlyMap<string, UserViews>;
  readonly campaigns: ReadonlyMap<string, JsonText>;
  readonly fields: FieldIndex;
  readonly destinations: readonly Destination[];
  /** Token to user ID. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly instance: Instance;
  close(): Promise<void>;
}

/** A content type with what the views need of it. */
export interface IndexedType {
  readonly bodyType: string;
  readonly fileFormat: ContentType["file_format"];
  /** The content type object of all views. */
  readonly json: JsonText;
}

function indexType({ file_format, ...shown }: ContentType): IndexedType {
  return { bodyType: shown.body_type, fileFormat: file_format, json: JsonText.of(shown) };
}

/** A user in the three forms of the wire, made once. */
export interface UserViews {
  readonly user: User;
  /** `last_updated_by` in full. */
  readonly plain: JsonText;
  /** `author_details` and `creator_details` of the dynamic set, which do not say who is a superadmin. */
  readonly dynamic: JsonText;
  /** `last_updated_by_details` and `owner_details` in full. */
  readonly extended: JsonText;
}

function userViews(user: User): UserViews {
  const { name_sort, removed, role, group_ids, ...plain } = user;
  const { superadmin, ...dynamic } = plain;
  const extended = { ...dynamic, superadmin, name_sort, removed, role, group_ids };
  return { user, plain: JsonText.of(plain), dynamic: JsonText.of(dynamic), extended: JsonText.of(extended) };
}

/** What is kept in memory of each document, to find and to order without reading it. Positions count from 0. */
export class Outline {
  /** Instants as `sortableInstant` makes them. */
  readonly createdAt: string[] = [];
  readonly updatedAt: string[] = [];
  /** Documents that not everybody may see, by position. */
  readonly restricted = new Map<number, Restriction>();
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
    if (document.acl?.access_summary === "PRIVATE") this.restricted.set(position, restriction(document));
  }

  /** Position of the item with this ID or, failing that, this slug. */
  find(idOrSlug: string): number | undefined {
    return this.#byId.get(idOrSlug) ?? this.#bySlug.get(idOrSlug);
  }
}

/** Who may see a private item: these users, and the members of these groups. */
export interface Restriction {
  readonly userIds: ReadonlySet<string>;
  readonly groupIds: readonly string[];
}

function restriction({ acl, author, creator, owner }: Document): Restriction {
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

/** Puts a content set together. `close` ends the store. */
export function assembleContentSet(
  documents: DocumentStore,
  outline: Outline,
  shared: SharedData,
): ContentSet {
  return {
    documents,
    outline,
    contentTypes: new Map(shared.contentTypes.map((type) => [type.id, indexType(type)])),
    users: new Map(shared.users.map((user) => [user.id, userViews(user)])),
    campaigns: new Map(shared.campaigns.map((campaign) => [campaign.id, JsonText.of(campaign)])),
    fields: indexFields(shared.customFields, shared.contentTypes, shared.instance.id),
    destinations: shared.destinations,
    tokens: new Map(shared.tokens.map(({ token, user_id }) => [token, user_id])),
    instance: shared.instance,
    close: () => documents.close(),
  };
}
