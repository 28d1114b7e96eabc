import { z } from "zod";
import { contentType as apiContentType } from "../api/content-type.ts";
import { fileValue } from "../api/custom-field.ts";
import { destination as apiDestination } from "../api/destination.ts";
import * as dynamic from "../api/dynamic.ts";
import { extendedUser } from "../api/user.ts";
import { attachment as apiAttachment, flag, optionalText, text } from "../api/values.ts";

/**
 * A content set: what the service serves, as a folder of files.
 *
 *     content.ndjson         one Document a line, in creation order
 *     content_types.ndjson   ContentType
 *     users.ndjson           User
 *     campaigns.ndjson       Campaign
 *     custom_fields.ndjson   CustomField: the definition with its mappings
 *     destinations.ndjson    Destination
 *     tokens.json            Token[]
 *     instance.json          Instance
 *
 * A document states each fact once, under its dynamic API name; the views of the three levels of detail are
 * computed from it, with the defaults of the specification for what it lacks. All instants are ISO 8601 UTC text.
 * Unknown keys are refused only where they would be lost in silence: at the top of a document, whose `unknown` is for
 * them.
 */

const number = z.number();
const optionalNumber = z.number().nullable();
const texts = z.array(text);

type PresentField<Field> = Field extends z.ZodOptional<infer Inner> | z.ZodNullable<infer Inner>
  ? PresentField<Inner>
  : Field;

function presentField(field: z.core.$ZodType): z.core.$ZodType {
  return field instanceof z.ZodOptional || field instanceof z.ZodNullable
    ? presentField(field.unwrap())
    : field;
}

/** An object of the contract with all of its fields, none of them null, and no others. */
function completeObject<Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape, z.core.$ZodObjectConfig>) {
  const fields = Object.entries(shape).map(([name, field]) => [name, presentField(field)]);
  return z.object(Object.fromEntries(fields) as { [Name in keyof Shape]: PresentField<Shape[Name]> });
}

const attachment = completeObject(apiAttachment).extend({
  image_attributes: z.object({ caption: optionalText, alt: optionalText, title: optionalText }),
});
const contentFile = completeObject(dynamic.contentFile);
const task = completeObject(dynamic.nextTask).extend({
  deadline: optionalText,
  deadline_offset: optionalNumber,
  deadline_offset_unit: optionalText,
  deadline_offset_task_id: optionalText,
  deadline_offset_task_action: optionalText,
  owner_ids: texts,
});
const file = completeObject(fileValue);

/** Dynamic columns that the views compute from other facts, so that no document states them. */
export const COMPUTED_COLUMNS = [
  "added_to_collection_date",
  "added_to_collection_dates",
  "author_details",
  "available_actions",
  "body_type",
  "campaign_details",
  "can_destroy",
  "can_modify",
  "categories_array",
  "collection_uids",
  "content_file_format",
  "content_type_details",
  "creator_details",
  "custom_field_value_ids",
  "custom_field_values",
  "custom_fields_details",
  "favorite",
  "favorite_count",
  "favorite_dates",
  "favorited_by_users",
  "full_content_type",
  "gallery_preview_revision_id",
  "initiatives_details",
  "instance",
  "newsroom_id",
  "next_task",
  "next_task_deadline",
  "next_task_owner",
  "next_task_title",
  "pinned_collection_rank",
  "preferred_title",
  "preferred_title_sort",
  "previewable_custom_field_values",
  "published_url",
  "service_url",
  "task_deadlines",
  "tasks_begin_at",
  "tasks_end_at",
  "updated",
  "url",
] as const satisfies readonly dynamic.DynamicColumnName[];

/** Names of the columns that a document states as the contract has them, with these marks in the contract. */
type StatedColumn<Marks> = {
  [Name in dynamic.DynamicColumnName]: dynamic.DynamicColumns[Name] extends Marks ? Name : never;
}[Exclude<dynamic.DynamicColumnName, (typeof COMPUTED_COLUMNS)[number]>];

function statedColumns<Name extends dynamic.DynamicColumnName>(
  isStated: (column: dynamic.DynamicColumn) => boolean,
) {
  const computed: ReadonlySet<string> = new Set(COMPUTED_COLUMNS);
  const stated = Object.entries(dynamic.DYNAMIC_COLUMNS).filter(
    ([name, column]) => !computed.has(name) && isStated(column),
  );
  return Object.fromEntries(stated.map(([name, { schema }]) => [name, z.exactOptional(schema)])) as {
    [Each in Name]: z.ZodExactOptional<dynamic.DynamicColumns[Each]["schema"]>;
  };
}

type EventColumn = StatedColumn<{ readonly eventOnly: true }>;
type GalleryColumn = StatedColumn<{ readonly galleryOnly: true }>;

/** Event facts: the columns that only events have; dates as `MM/DD/YY`. */
const eventFacts = z.object(statedColumns<EventColumn>(({ eventOnly }) => eventOnly));

/** Gallery facts: the gallery-only columns, and the collections that the item is in. */
const galleryFacts = z.object({
  ...statedColumns<GalleryColumn>(({ galleryOnly }) => galleryOnly),
  collections: z
    .array(z.object({ collection_id: text, added_date: text, rank: number.exactOptional() }))
    .exactOptional(),
  gallery_preview_revision: completeObject(dynamic.galleryPreviewRevision).nullable().exactOptional(),
});

/**
 * Facts of one content item: the dynamic columns that are not computed, under their API names, and what the computed ones
 * are made from. Every key but `id`, `slug`, `content_type`, `created_at`, `updated_at` may be missing.
 */
const document = z.strictObject({
  ...statedColumns<Exclude<StatedColumn<unknown>, EventColumn | GalleryColumn>>(
    ({ eventOnly, galleryOnly }) => !eventOnly && !galleryOnly,
  ),
  id: text.min(1),
  /** Unique over the content set. */
  slug: text.min(1),
  /** Content type ID. */
  content_type: text,
  created_at: text,
  /** Microsecond fraction, e.g. `2026-03-01T09:30:12.123456Z`: dynamic shows it raw, basic and full to the second. */
  updated_at: text,
  state: text.exactOptional(),
  /** User IDs. */
  owner: optionalText.exactOptional(),
  last_updated_by: optionalText.exactOptional(),
  /** Campaign IDs; may name a campaign that is not in the set. */
  campaigns: texts.exactOptional(),
  attachments: z.array(attachment).exactOptional(),
  content_file: contentFile.nullable().exactOptional(),
  published_urls: z
    .array(z.object({ external_site_name: text, published_url: optionalText }))
    .exactOptional(),
  /** Custom field ID to value. Any JSON value: oddities among field values are what a client must get along with. */
  custom_fields: z
    .record(
      text,
      z.custom<CustomFieldValue>(() => true),
    )
    .exactOptional(),
  /** Custom field ID to the time of its last change. */
  custom_fields_updated_at: z.record(text, text).exactOptional(),
  /** Whole set of tasks, in order; `next_task` is the first that is not completed. */
  tasks: z.array(task).exactOptional(),
  /** `PRIVATE`: listed for admins and editors, for author, creator and owner, and for whom it names; else for all. */
  acl: z.object({ group_ids: texts, user_ids: texts, access_summary: text }).exactOptional(),
  currently_editing: z
    .array(z.object({ id: text, name: text, avatar_url: text, last_seen: number }))
    .exactOptional(),
  favorites: z.array(z.object({ user_id: text, date: text })).exactOptional(),
  field_locks: z.record(text, z.unknown()).exactOptional(),
  event: eventFacts.exactOptional(),
  gallery: galleryFacts.exactOptional(),
  /** API fields that the specification does not know: sent as they are, in place of a column of the name. */
  unknown: z.record(text, z.unknown()).exactOptional(),
});

const contentType = completeObject(apiContentType).extend({
  /** For file types: what `content_file_format` shows. */
  file_format: z.object({ name: text, extensions: texts }).exactOptional(),
});

const customField = z.object({
  id: text,
  field_type: text,
  display_label: text,
  name: text,
  default_value: text.exactOptional(),
  created_at: text,
  /** Select and multiselect only. */
  formatted_select_values: z
    .array(z.object({ id: text, display: text, value: text, archived: flag }))
    .exactOptional(),
  options: z.record(text, flag),
  visible_in_previews: flag,
  visible_in_insights: flag,
  instructions: optionalText,
  mappings: z.array(
    z.object({
      id: text,
      /** External field name. */
      field_name: text,
      /** Destination ID; may name a destination that is not in the set. */
      external_site_id: text,
      values: z.array(z.object({ id: text, value_id: text, value: text })),
    }),
  ),
  /** Content type IDs that carry the field; missing: all. */
  content_types: texts.exactOptional(),
});

const user = completeObject(extendedUser).extend({ tours_seen: texts, group_ids: texts });
const campaign = completeObject(dynamic.campaign).extend({
  start_date: optionalText,
  end_date: optionalText,
});
const destination = completeObject(apiDestination);
const instance = completeObject(dynamic.instance);

/** `user_id`: the token's owner. */
const token = z.object({ token: text.min(1), user_id: text });

/** What a line of each file is; tokens and instance are whole files. */
export const contentSetSchema = {
  document,
  contentType,
  user,
  campaign,
  customField,
  destination,
  tokens: z.array(token),
  instance,
} as const;

/** A value ID (select), value IDs (multiselect), text, number, boolean, a file, null. */
export type CustomFieldValue = string | number | boolean | null | FileValue | (string | number | null)[];

/** The object that `custom_field_values` shows for a file or image field; elsewhere its `id` stands for it. */
export type FileValue = z.infer<typeof file>;

export type Document = z.infer<typeof document>;
export type Attachment = z.infer<typeof attachment>;
export type ContentFile = z.infer<typeof contentFile>;
export type DocumentTask = z.infer<typeof task>;
export type ContentType = z.infer<typeof contentType>;
export type User = z.infer<typeof user>;
export type Campaign = z.infer<typeof campaign>;
export type CustomField = z.infer<typeof customField>;
export type ServedDestination = z.infer<typeof destination>;
export type Token = z.infer<typeof token>;
export type ServedInstance = z.infer<typeof instance>;

/** Everything of a content set but its documents. */
export interface ServedDefinitions {
  readonly contentTypes: readonly ContentType[];
  readonly users: readonly User[];
  readonly campaigns: readonly Campaign[];
  readonly customFields: readonly CustomField[];
  readonly destinations: readonly ServedDestination[];
  readonly tokens: readonly Token[];
  readonly instance: ServedInstance;
}
