/**
 * What a user may do. The specification names the actions, but no rules; ours are: admins and editors work on everything,
 * others on items that they are involved in.
 */
import type { Document, User } from "./content-set.ts";
import { HttpError } from "./http-error.ts";
import type { ContentSet } from "./load.ts";

/** The user of a token, as far as permissions need it. */
export type Actor = Pick<User, "id" | "superadmin" | "role" | "removed" | "group_ids">;

/**
 * Returns the function that finds the user of a request and counts the request. Credentials are Basic ones: the token is
 * the user name; the password is ignored. Throws 401, and 429 above `perSecond` requests of a token. `now`: milliseconds
 * since 1970.
 */
export function admission(
  { tokens, users }: Pick<ContentSet, "tokens" | "users">,
  perSecond: number | undefined,
  now: () => number,
): (authorization: string | undefined) => Actor {
  const count = perSecond === undefined ? undefined : createRateLimit(perSecond, now);
  return (authorization) => {
    const [, encoded = ""] = /^basic +([a-z0-9+/_-]+=*) *$/i.exec(authorization ?? "") ?? [];
    const [token = ""] = Buffer.from(encoded, "base64").toString("utf8").split(":", 1);
    const id = tokens.get(token);
    if (id === undefined)
      throw new HttpError(
        401,
        authorization === undefined
          ? "Credentials are missing: send an API token as the user name of HTTP Basic credentials."
          : "The credentials were not accepted: the user name must be a valid API token.",
        { "www-authenticate": 'Basic realm="Content API", charset="UTF-8"' },
      );
    count?.(token);
    return users.get(id)?.user ?? strangerOf(id);
  };
}

/** An unknown user, who sees public items and may do nothing. */
export function strangerOf(id: string): Actor {
  return { id, superadmin: false, role: "viewer", removed: false, group_ids: [] };
}

/**
 * Limits the requests of each token by a bucket of one second's requests. Throws a 429 with the whole seconds to wait.
 * `now`: milliseconds since 1970.
 */
function createRateLimit(perSecond: number, now: () => number): (token: string) => void {
  const capacity = Math.max(1, perSecond);
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (token) => {
    const nowMs = now();
    const bucket = buckets.get(token) ?? { tokens: capacity, atMs: nowMs };
    bucket.tokens = Math.min(capacity, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    buckets.set(token, bucket);
    if (bucket.tokens < 1) {
      const seconds = String(Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)));
      throw new HttpError(
        429,
        `Too many requests: this service answers ${perSecond} a second for each token. Retry in ${seconds} s.`,
        { "retry-after": seconds },
      );
    }
    bucket.tokens -= 1;
  };
}

function isAdmin({ superadmin, role }: Actor): boolean {
  return superadmin || role === "admin";
}

/** Staff sees everything, whatever the acl says. */
function isStaff(actor: Actor): boolean {
  return isAdmin(actor) || actor.role === "editor";
}

/** Whether an item is listed for the user: everybody sees items that are not private. */
export function canView(actor: Actor, { acl, author, creator, owner }: Document): boolean {
  if (acl?.access_summary !== "PRIVATE" || isStaff(actor)) return true;
  const isNamed = [...acl.user_ids, author, creator, owner].includes(actor.id);
  return isNamed || acl.group_ids.some((id) => actor.group_ids.includes(id));
}

/** `can_modify`. Only admins modify locked items; nobody modifies deleted ones. */
function canModify(actor: Actor, document: Document): boolean {
  if (actor.removed || actor.role === "viewer" || typeof document.deleted_at === "string") return false;
  if (document.locked === true) return isAdmin(actor);
  return isStaff(actor) || [document.author, document.creator, document.owner].includes(actor.id);
}

/** `can_destroy`: admins, and the creator and owner of the item. */
function canDestroy(actor: Actor, document: Document): boolean {
  if (!canModify(actor, document)) return false;
  return isAdmin(actor) || [document.creator, document.owner].includes(actor.id);
}

/** The actions of the specification, each with its condition for a user who can modify the item. */
const ACTIONS: Readonly<Record<string, (actor: Actor, document: Document) => boolean>> = {
  publish: () => true,
  publish_as_draft: (_, { published }) => published !== true,
  add_campaigns: () => true,
  add_categories: () => true,
  add_visibility: (actor) => isStaff(actor),
  add_tags: () => true,
  add_personas: () => true,
  add_buying_stages: () => true,
  copy_tags: (_, { tags }) => tags !== undefined && tags.length > 0,
  duplicate: () => true,
  remove_initiatives: (_, { campaigns }) => campaigns !== undefined && campaigns.length > 0,
  change_type: (actor) => isStaff(actor),
  sync_to_gallery: (_, { synced_to_gallery_date }) => typeof synced_to_gallery_date !== "string",
  unsync_from_gallery: (_, { synced_to_gallery_date }) => typeof synced_to_gallery_date === "string",
  archive: (_, { archived }) => archived !== true,
  delete: canDestroy,
  set_progress_stage: () => true,
  update_tasks: (_, { tasks }) => tasks !== undefined && tasks.length > 0,
};

/** Columns of the dynamic set. */
export const PERMISSION_COLUMNS = {
  /** In the order of the specification. */
  available_actions: ({ actor, document }: ActorAndItem) =>
    canModify(actor, document)
      ? Object.keys(ACTIONS).filter((action) => ACTIONS[action]?.(actor, document))
      : [],
  can_destroy: ({ actor, document }: ActorAndItem) => canDestroy(actor, document),
  can_modify: ({ actor, document }: ActorAndItem) => canModify(actor, document),
};

interface ActorAndItem {
  readonly actor: Actor;
  readonly document: Document;
}
