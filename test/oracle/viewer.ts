import type { Document, User } from "../../src/service/content-set.ts";

/** What the user of a token may see and do: the rules of the embedded service, written out. */

export function sees(user: User, document: Document): boolean {
  if (document.acl?.access_summary !== "PRIVATE") return true;
  if (isStaff(user)) return true;
  if (document.acl.user_ids.includes(user.id)) return true;
  if ([document.author, document.creator, document.owner].includes(user.id)) return true;
  return document.acl.group_ids.some((group) => user.group_ids.includes(group));
}

function isAdmin(user: User): boolean {
  return user.superadmin || user.role === "admin";
}

function isStaff(user: User): boolean {
  return isAdmin(user) || user.role === "editor";
}

export function canModify(user: User, document: Document): boolean {
  if (user.removed) return false;
  if (user.role === "viewer") return false;
  if (typeof document.deleted_at === "string") return false;
  if (document.locked === true) return isAdmin(user);
  if (isStaff(user)) return true;
  return [document.author, document.creator, document.owner].includes(user.id);
}

export function canDestroy(user: User, document: Document): boolean {
  if (!canModify(user, document)) return false;
  return isAdmin(user) || document.creator === user.id || document.owner === user.id;
}

/** In the order in which the specification names them. */
export function availableActions(user: User, document: Document): string[] {
  if (!canModify(user, document)) return [];
  const actions = ["publish"];
  if (document.published !== true) actions.push("publish_as_draft");
  actions.push("add_campaigns", "add_categories");
  if (isStaff(user)) actions.push("add_visibility");
  actions.push("add_tags", "add_personas", "add_buying_stages");
  if ((document.tags ?? []).length > 0) actions.push("copy_tags");
  actions.push("duplicate");
  if ((document.campaigns ?? []).length > 0) actions.push("remove_initiatives");
  if (isStaff(user)) actions.push("change_type");
  const inGallery = typeof document.synced_to_gallery_date === "string";
  actions.push(inGallery ? "unsync_from_gallery" : "sync_to_gallery");
  if (document.archived !== true) actions.push("archive");
  if (canDestroy(user, document)) actions.push("delete");
  actions.push("set_progress_stage");
  if ((document.tasks ?? []).length > 0) actions.push("update_tasks");
  return actions;
}
