import type { ContentType, Document, DocumentTask, User } from "../../src/service/content-set.ts";
import type { ContentSetFolder } from "./content-set.ts";
import type { ExportOptions } from "./rows.ts";
import { type Emit, instant, orNull, usDate } from "./values.ts";
import { availableActions, canDestroy, canModify } from "./viewer.ts";

/** Rows that an item has in every item table but the one of its custom field values. */
export function itemRows(set: ContentSetFolder, options: ExportOptions, user: User) {
  return (document: Document, emit: Emit): void => {
    const type = set.types.get(document.content_type);
    contentRow(set, options, user, document, type, emit);
    galleryRow(document, emit);
    eventRow(document, type, emit);
    fileRows(document, emit);
    taskRows(document, emit);
    textRows(document, type, user, emit);
    attachmentRows(document, emit);
    peopleRows(document, options, emit);
    collectionRows(document, emit);
  };
}

function nextTask(document: Document): DocumentTask | undefined {
  return (document.tasks ?? []).find((task) => !task.completed);
}

function contentRow(
  set: ContentSetFolder,
  options: ExportOptions,
  user: User,
  document: Document,
  type: ContentType | undefined,
  emit: Emit,
): void {
  const site = `https://${set.instance.subdomain}.example`;
  const isEvent = type?.body_type === "event";
  const task = nextTask(document);
  const title = document.title ? document.title : "(no title)";
  const favorites = document.favorites ?? [];
  const deadlines = (document.tasks ?? []).map((each) => instant(each.deadline)).filter((at) => at !== null);
  deadlines.sort((a, b) => (a < b ? -1 : 1));
  const isKnown = typeof document.last_updated_by === "string" && set.users.has(document.last_updated_by);
  emit("content", {
    content_id: document.id,
    slug: document.slug,
    title: orNull(document.title),
    preferred_title: title,
    preferred_title_sort: title.toLowerCase(),
    content_type_id: document.content_type,
    body_type: type?.body_type ?? "no_body",
    state: document.state ?? "production",
    progress_stage: document.progress_stage ?? "planned",
    archived: document.archived ?? false,
    locked: document.locked ?? false,
    published: document.published ?? false,
    status: orNull(document.status),
    field_locks: document.field_locks ?? {},
    created_at: instant(document.created_at),
    updated_at: instant(document.updated_at),
    updated: instant(document.updated_at.replace(/\.\d+Z$/, "Z")),
    deleted_at: instant(document.deleted_at),
    completed_date: instant(document.completed_date),
    assigned_date: instant(document.assigned_date),
    published_date: instant(document.published_date),
    synced_to_gallery_date: instant(document.synced_to_gallery_date),
    // Single-item requests are made of events only.
    single_item_read: isEvent,
    tasks_begin_at: isEvent ? orNull(deadlines[0]) : null,
    tasks_end_at: isEvent ? orNull(deadlines.at(-1)) : null,
    payment: isEvent ? orNull(document.payment) : null,
    assignee_id: orNull(document.author),
    creator_id: orNull(document.creator),
    owner_id: orNull(document.owner),
    // Only the user objects name who updated the item last: a user that is not described is not named.
    last_updated_by_id: isKnown ? document.last_updated_by : null,
    instance_id: set.instance.id,
    access_summary: orNull(document.acl?.access_summary),
    can_modify: canModify(user, document),
    can_destroy: canDestroy(user, document),
    content: document.content ?? "",
    body_fragment: orNull(document.body_fragment),
    excerpt: orNull(document.excerpt),
    wordcount: orNull(document.wordcount),
    content_number: orNull(document.content_number),
    factory_url: `${site}/factory/content/${document.slug}`,
    service_url: `${site}/c/${document.id}`,
    url: `${site}/content/${document.slug}`,
    discussion_url: document.discussion_url ?? `${site}/content/${document.slug}/discussion`,
    published_url: publishedUrl(document),
    publish_destination: orNull(document.publish_destination),
    library_tracking_url: orNull(document.library_tracking_url),
    marketing_automation_url: orNull(document.marketing_automation_url),
    media_url: orNull(document.media_url),
    thumbnail_url: orNull(document.thumbnail_url),
    content_thumbnail_url: orNull(document.content_thumbnail_url),
    webinar_playback_url: orNull(document.webinar_playback_url),
    localized_from_id: orNull(document.localized_from_id),
    repository_notes: orNull(document.repository_notes),
    social_media_channel: orNull(document.social_media_channel),
    viewer_compatibility: document.viewer_compatibility ?? "none",
    content_file_format_name: orNull(type?.file_format?.name),
    favorite: favorites.some((favorite) => favorite.user_id === user.id),
    favorite_count: favorites.length,
    next_task_description: task?.description ?? "Completed",
    next_task_title: orNull(task?.description),
    next_task_deadline: instant(task?.deadline),
    extra: extraOf(document, options),
  });
}

/**
 * The first URL that is not null; an empty one is none. Where there is none, full says the empty string and dynamic
 * says null: NULL is kept.
 */
function publishedUrl(document: Document): string | null {
  for (const { published_url } of document.published_urls ?? []) {
    if (published_url !== null) return published_url === "" ? null : published_url;
  }
  return null;
}

const INSTANTS = [
  "deleted_at",
  "completed_date",
  "assigned_date",
  "published_date",
  "synced_to_gallery_date",
] as const;

/** Unknown fields, and instants that are none. */
function extraOf(document: Document, { personalData }: ExportOptions): object | null {
  const extra: [string, unknown][] = [];
  for (const name of INSTANTS) {
    const value = document[name];
    if (typeof value === "string" && instant(value) === null) extra.push([name, value]);
  }
  const unknown = personalData === "keep" ? document.unknown : withoutPersonal(document.unknown);
  extra.push(...Object.entries(unknown ?? {}));
  return extra.length === 0 ? null : Object.fromEntries(extra);
}

/** Without the fields that look personal, as far as content sets have such; at any depth. */
function withoutPersonal(value: unknown): object | undefined {
  if (Array.isArray(value)) return value.map((element) => withoutPersonal(element) ?? element);
  if (typeof value !== "object" || value === null) return undefined;
  const kept = Object.entries(value).filter(([name]) => !/mail|phone|_name$/.test(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutPersonal(inner) ?? inner]));
}

function galleryRow(document: Document, emit: Emit): void {
  const gallery = document.gallery ?? {};
  emit("content_gallery", {
    content_id: document.id,
    pinned: gallery.pinned ?? false,
    download_url: orNull(gallery.download_url),
    gallery_can_download: gallery.gallery_can_download ?? true,
    gallery_can_share: gallery.gallery_can_share ?? true,
    gallery_can_bundle: gallery.gallery_can_bundle ?? false,
    gallery_bundle_can_download: gallery.gallery_bundle_can_download ?? true,
    gallery_bundle_can_share: gallery.gallery_bundle_can_share ?? true,
    gallery_bundle_settings_overridden: gallery.gallery_bundle_settings_overridden ?? false,
    gallery_preview_revision_id: orNull(gallery.gallery_preview_revision?.id),
    gallery_viewer_compatibility: gallery.gallery_viewer_compatibility ?? "none",
    doc_provider_file_id: orNull(gallery.doc_provider_file_id),
    doc_provider_preview_url: orNull(gallery.doc_provider_preview_url),
    extra: null,
  });
}

function eventRow(document: Document, type: ContentType | undefined, emit: Emit): void {
  if (type?.body_type !== "event") return;
  const event = document.event ?? {};
  const extra: Record<string, string> = {};
  for (const name of ["event_start_date", "event_end_date"] as const) {
    const text = event[name];
    if (typeof text === "string" && usDate(text) === null) extra[name] = text;
  }
  emit("content_events", {
    content_id: document.id,
    event_start_date: usDate(event.event_start_date),
    event_start_date_text: orNull(event.event_start_date),
    event_end_date: usDate(event.event_end_date),
    event_end_date_text: orNull(event.event_end_date),
    latitude: orNull(event.latitude),
    longitude: orNull(event.longitude),
    place_id: orNull(event.place_id),
    timezone_name: orNull(event.timezone_name),
    extra: Object.keys(extra).length === 0 ? null : extra,
  });
}

function fileRows(document: Document, emit: Emit): void {
  const file = document.content_file;
  if (file) {
    const { id, updated_at, ...rest } = file;
    const row = { role: "content_file", file_id: id, updated_at: instant(updated_at), ...rest };
    emit("content_files", { content_id: document.id, ...row, extra: null });
  }
  const preview = document.gallery?.gallery_preview_revision;
  if (preview) {
    const { id, ...rest } = preview;
    const absent = { permanent_url: null, public: null, subdomain: null, updated_at: null };
    const row = { role: "gallery_preview", file_id: id, ...rest, ...absent };
    emit("content_files", { content_id: document.id, ...row, extra: null });
  }
}

function taskRows(document: Document, emit: Emit): void {
  (document.tasks ?? []).forEach((task, ordinal) => {
    emit("content_task_deadlines", {
      content_id: document.id,
      ordinal,
      description: task.description,
      deadline: instant(task.deadline),
      smart_deadline: task.deadline_offset !== null,
      extra: null,
    });
  });
  const task = nextTask(document);
  if (task === undefined) return;
  const { id, deadline, owner_ids, ...rest } = task;
  const row = { content_id: document.id, task_id: id, deadline: instant(deadline), ...rest, extra: null };
  emit("content_next_tasks", row);
  owner_ids.forEach((user_id, ordinal) => {
    emit("content_next_task_owners", { content_id: document.id, ordinal, user_id, extra: null });
  });
}

const SHARE_CHANNELS = ["published_url", "tracking_url", "email", "social_a", "social_b", "social_c"];

/** Lists whose elements are single texts. */
function textRows(document: Document, type: ContentType | undefined, user: User, emit: Emit): void {
  const lists: [string, string, readonly (string | null)[] | undefined][] = [
    ["content_tags", "tag", document.tags],
    ["content_categories", "category", document.categories],
    ["content_campaigns", "campaign_id", document.campaigns],
    ["content_personas", "persona_id", document.personas],
    ["content_stages", "stage_id", document.stages],
    ["content_available_actions", "action", availableActions(user, document)],
    ["content_crm_shares", "crm_id", document.crm_shared_with_ids],
    ["content_gallery_share_channels", "channel", document.gallery?.gallery_share_settings ?? SHARE_CHANNELS],
    ["content_file_extensions", "extension", type?.file_format?.extensions],
  ];
  for (const [table, column, list] of lists) {
    (list ?? []).forEach((element, ordinal) => {
      emit(table, { content_id: document.id, ordinal, [column]: element, extra: null });
    });
  }
}

function attachmentRows(document: Document, emit: Emit): void {
  (document.attachments ?? []).forEach((attachment, ordinal) => {
    const { caption, alt, title } = attachment.image_attributes;
    emit("content_attachments", {
      content_id: document.id,
      ordinal,
      attachment_id: attachment.id,
      url: attachment.url,
      filename: attachment.filename,
      updated_at: instant(attachment.updated_at),
      image_caption: caption,
      image_alt: alt,
      image_title: title,
      extra: null,
    });
  });
  (document.published_urls ?? []).forEach((place, ordinal) => {
    const published_url = place.published_url === "" ? null : place.published_url;
    emit("content_published_urls", {
      content_id: document.id,
      ordinal,
      ...place,
      published_url,
      extra: null,
    });
  });
}

function peopleRows(document: Document, { personalData }: ExportOptions, emit: Emit): void {
  (document.currently_editing ?? []).forEach((editor, ordinal) => {
    emit("content_current_editors", {
      content_id: document.id,
      ordinal,
      user_id: editor.id,
      name: personalData === "keep" ? editor.name : null,
      avatar_url: personalData === "keep" ? editor.avatar_url : null,
      last_seen: BigInt(editor.last_seen) * 1_000_000n,
      extra: null,
    });
  });
  (document.favorites ?? []).forEach(({ user_id, date }, ordinal) => {
    const favorite_date = instant(date);
    emit("content_favorites", { content_id: document.id, ordinal, user_id, favorite_date, extra: null });
  });
  const seen = new Set<string>();
  const principals = [
    ...(document.acl?.group_ids ?? []).map((id, ordinal) => ({ kind: "group", id, ordinal })),
    ...(document.acl?.user_ids ?? []).map((id, ordinal) => ({ kind: "user", id, ordinal })),
  ];
  for (const { kind, id, ordinal } of principals) {
    if (seen.has(`${kind} ${id}`)) continue;
    seen.add(`${kind} ${id}`);
    const row = { content_id: document.id, principal_kind: kind, principal_id: id, ordinal, extra: null };
    emit("content_acl_principals", row);
  }
}

function collectionRows(document: Document, emit: Emit): void {
  (document.gallery?.collections ?? []).forEach(({ collection_id, added_date, rank }, ordinal) => {
    emit("content_collections", {
      content_id: document.id,
      collection_id,
      ordinal,
      added_date: instant(added_date),
      pinned_rank: orNull(rank),
      extra: null,
    });
  });
}
