/**
 * What a user may do. The specification names the actions, but no rules; ours are: admins and editors work on everything,
 * others on items that they are involved in.
 */
import type { ContentSet } from "./assemble-set.ts";
import type { Document, User } from "./content-set.ts";
import { HttpError } from "./http-error.ts";

/** The user of a token, as far as permissions need it. */
export type Actor = Pick<User, "id" | "superadmin" | "role" | "removed" | "group_ids">;

/** The user with this ID. An unknown user sees public items and may do nothing. */
export function actorOf({ users }: Pick<ContentSet, "users">, id: string): Actor {
  return users.get(id)?.user ?? { id, superadmin: false, role: "viewer", removed: false, group_ids: [] };
}

/** The token of a request and its user. */
export type Caller = ReturnType<typeof identify>;

/** Reads Basic credentials: the token is the user name; the password is ignored. Throws 401. */
export function identify(authorization: string | undefined, actors: ReadonlyMap<string, Actor>) {
  const [, encoded = ""] = /^basic +([a-z0-9+/_-]+=*) *$/i.exec(authorization ?? "") ?? [];
  const [token = ""] = Buffer.from(encoded, "base64").toString("utf8").split(":", 1);
  const actor = actors.get(token);
  if (actor !== undefined) return { token, actor };
  throw new HttpError(
    401,
    authorization === undefined
      ? "Credentials are missing: send an API token as the user name of HTTP Basic credentials."
      : "The credentials were not accepted: the user name must be a valid API token.",
    { "www-authenticate": 'Basic realm="Content API", charset="UTF-8"' },
  );
}

function isAdmin({ superadmin, role }: Actor): boolean {
  return superadmin || role === "admin";
}

/** Staff sees everything, whatever the acl says. */
export function isStaff(actor: Actor): boolean {
  return isAdmin(actor) || actor.role === "editor";
}

/** Whether an item is listed for the user: everybody sees items that are not private. */
export function canView(actor: Actor, { acl, author, creator, owner }: Document): boolean {
  if (acl?.access_summary !== "PRIVATE" || isStaff(actor)) return true;
  const isNamed = [...acl.user_ids, author, creator, owner].includes(actor.id);
  return isNamed || acl.group_ids.some((id) => actor.group_ids.includes(id));
}

/** `can_modify`. Only admins modify locked items; nobody modifies deleted ones. */
export function canModify(actor: Actor, document: Document): boolean {
  if (actor.removed || actor.role === "viewer" || typeof document.deleted_at === "string") return false;
  if (document.locked === true) return isAdmin(actor);
  return isStaff(actor) || [document.author, document.creator, document.owner].includes(actor.id);
}

/** `can_destroy`: admins, and the creator and owner of the item. */
export function canDestroy(actor: Actor, document: Document): boolean {
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

/** `available_actions`, in the order of the specification. */
export function availableActions(actor: Actor, document: Document): string[] {
  if (!canModify(actor, document)) return [];
  return Object.entries(ACTIONS)
    .filter(([, condition]) => condition(actor, document))
    .map(([action]) => action);
}
