import type { ContentSet, PrivateAccess } from "./assemble-set.ts";
import type { Document, User } from "./content-set.ts";
import { HttpError } from "./http-error.ts";

/**
 * Who asks, and what that user may do. The specification says that this is decided per user and names the actions, but not
 * the rules; these are ours: admins and editors work on everything, others on what they have a part in.
 */

/** The user behind a token, as far as decisions need one. */
export type Actor = Pick<User, "id" | "superadmin" | "role" | "removed" | "group_ids">;

/** The user with this ID. One that the set does not describe sees what is public and may do nothing. */
export function actorOf({ users }: Pick<ContentSet, "users">, id: string): Actor {
  return users.get(id)?.user ?? { id, superadmin: false, role: "viewer", removed: false, group_ids: [] };
}

/** Who asks: the token that was presented and the user that it belongs to. */
export type Caller = ReturnType<typeof identify>;

/** Basic credentials: the token is the user name, the password means nothing. Throws 401. */
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

/** Sees everything, whatever its acl says. */
export function isStaff(actor: Actor): boolean {
  return isAdmin(actor) || actor.role === "editor";
}

/** Whether an item with this restriction (`undefined`: none) is listed for the user. */
export function canView(actor: Actor, restriction: PrivateAccess | undefined): boolean {
  if (restriction === undefined || isStaff(actor)) return true;
  return restriction.userIds.has(actor.id) || restriction.groupIds.some((id) => actor.group_ids.includes(id));
}

/** `can_modify`. A locked item is for admins, a deleted one for nobody. */
export function canModify(actor: Actor, document: Document): boolean {
  if (actor.removed || actor.role === "viewer" || typeof document.deleted_at === "string") return false;
  if (document.locked === true) return isAdmin(actor);
  return isStaff(actor) || [document.author, document.creator, document.owner].includes(actor.id);
}

/** `can_destroy`: admins, and whoever made or owns the item. */
export function canDestroy(actor: Actor, document: Document): boolean {
  if (!canModify(actor, document)) return false;
  return isAdmin(actor) || [document.creator, document.owner].includes(actor.id);
}

type Condition = (actor: Actor, document: Document) => boolean;
const always: Condition = () => true;

/** Every action that the specification names, with when it can be taken by somebody who can modify the item. */
const ACTIONS: Readonly<Record<string, Condition>> = {
  publish: always,
  publish_as_draft: (_, { published }) => published !== true,
  add_campaigns: always,
  add_categories: always,
  add_visibility: (actor) => isStaff(actor),
  add_tags: always,
  add_personas: always,
  add_buying_stages: always,
  copy_tags: (_, { tags }) => tags !== undefined && tags.length > 0,
  duplicate: always,
  remove_initiatives: (_, { campaigns }) => campaigns !== undefined && campaigns.length > 0,
  change_type: (actor) => isStaff(actor),
  sync_to_gallery: (_, { synced_to_gallery_date }) => typeof synced_to_gallery_date !== "string",
  unsync_from_gallery: (_, { synced_to_gallery_date }) => typeof synced_to_gallery_date === "string",
  archive: (_, { archived }) => archived !== true,
  delete: canDestroy,
  set_progress_stage: always,
  update_tasks: (_, { tasks }) => tasks !== undefined && tasks.length > 0,
};

/** `available_actions`, in the order of the specification. */
export function availableActions(actor: Actor, document: Document): string[] {
  if (!canModify(actor, document)) return [];
  return Object.entries(ACTIONS)
    .filter(([, condition]) => condition(actor, document))
    .map(([action]) => action);
}
