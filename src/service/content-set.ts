/**
 * A content set: what the service serves, as a folder of files.
 *
 *     content.ndjson         one Document a line, in creation order
 *     content_types.ndjson   ContentType
 *     users.ndjson           User
 *     campaigns.ndjson       Campaign
 *     custom_fields.ndjson   CustomField: the definition with its mappings
 *     destinations.ndjson    ServedDestination
 *     tokens.json            Token[]
 *     instance.json          ServedInstance
 *
 * A document states each fact once, under its dynamic API name. The service computes the views of the three levels of
 * detail from it, with the defaults of the specification for what it lacks. Instants are ISO 8601 UTC text. A misspelled
 * name at the top of a document is refused; fields that the specification does not know go into `unknown`.
 */
import { z } from "zod";
import { BASIC_FIELDS } from "../api/basic.ts";
import { fileValue } from "../api/custom-field.ts";
import { destination as apiDestination } from "../api/destination.ts";
import {
  DYNAMIC_COLUMN_NAMES,
  DYNAMIC_COLUMNS,
  type DynamicColumn,
  type DynamicColumnName,
  dynamicItem,
} from "../api/dynamic.ts";
import type { ItemField } from "../api/field.ts";
import { FULL_FIELDS } from "../api/full.ts";
import { extendedUser } from "../api/user.ts";
import {
  attachment as apiAttachment,
  contentType as apiContentType,
  flag,
  optionalText,
  text,
} from "../api/values.ts";

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

/** An object of the contract that has all of its fields and no others, none of them null. */
function completeObject<Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape, z.core.$ZodObjectConfig>) {
  const fields = Object.entries(shape).map(([name, field]) => [name, presentField(field)]);
  return z.object(Object.fromEntries(fields) as { [Name in keyof Shape]: PresentField<Shape[Name]> });
}

const attachment = completeObject(apiAttachment).extend({
  image_attributes: z.object({ caption: optionalText, alt: optionalText, title: optionalText }),
});
const { shape: columns } = dynamicItem;
const contentFile = completeObject(columns.content_file.unwrap().unwrap());
const task = completeObject(columns.next_task.unwrap().unwrap()).extend({
  deadline: optionalText,
  deadline_offset: optionalNumber,
  deadline_offset_unit: optionalText,
  deadline_offset_task_id: optionalText,
  deadline_offset_task_action: optionalText,
  owner_ids: texts,
});
const file = completeObject(fileValue);

/** Dynamic columns that a document states under their own names: all of them may be missing. */
type FactShape = {
  [Name in DynamicColumnName]: (typeof dynamicItem.shape)[Name] extends z.ZodOptional<infer Schema>
    ? z.ZodExactOptional<Schema>
    : never;
};

function factsOf(isFact: (column: DynamicColumn) => boolean): FactShape {
  const names = DYNAMIC_COLUMN_NAMES.filter((name) => isFact(DYNAMIC_COLUMNS[name]));
  return optionalFields(names.map((name) => [name, DYNAMIC_COLUMNS[name]])) as FactShape;
}

function optionalFields(fields: readonly (readonly [name: string, field: ItemField])[]): object {
  return Object.fromEntries(fields.map(([name, { schema }]) => [name, schema.exactOptional()]));
}

/** Facts of one content item. */
const document = z.strictObject({
  ...optionalFields(Object.entries({ ...BASIC_FIELDS, ...FULL_FIELDS })),
  ...factsOf(({ eventOnly, galleryOnly }) => !eventOnly && !galleryOnly),
  id: text.min(1),
  /** Unique in the content set. */
  slug: text.min(1),
  /** Content type ID. */
  content_type: text,
  created_at: text,
  /** With microseconds, e.g. `2026-03-01T09:30:12.123456Z`: dynamic shows them, basic and full do not. */
  updated_at: text,
  state: text.exactOptional(),
  owner: optionalText.exactOptional(),
  /** User ID. */
  last_updated_by: optionalText.exactOptional(),
  /** HTML body. */
  content: text.exactOptional(),
  /** Campaign IDs; may name a campaign that is not in the set. */
  campaigns: texts.exactOptional(),
  attachments: z.array(attachment).exactOptional(),
  content_file: contentFile.nullable().exactOptional(),
  published_urls: z
    .array(z.object({ external_site_name: text, published_url: optionalText }))
    .exactOptional(),
  /** Custom field ID to value. Any JSON value is allowed: clients must cope with odd ones. */
  custom_fields: z
    .record(
      text,
      z.custom<CustomFieldValue>(() => true),
    )
    .exactOptional(),
  /** Custom field ID to the time of its last change. */
  custom_fields_updated_at: z.record(text, text).exactOptional(),
  /** All tasks in order; `next_task` is the first one that is not completed. */
  tasks: z.array(task).exactOptional(),
  next_task: z.never().exactOptional(),
  /** `PRIVATE` items are listed only for staff, for author, creator and owner, and for the users and groups named. */
  acl: z.object({ group_ids: texts, user_ids: texts, access_summary: text }).exactOptional(),
  currently_editing: z
    .array(z.object({ id: text, name: text, avatar_url: text, last_seen: number }))
    .exactOptional(),
  favorites: z.array(z.object({ user_id: text, date: text })).exactOptional(),
  /** Facts of an event; dates as `MM/DD/YY`. */
  event: z.object(factsOf(({ eventOnly }) => eventOnly)).exactOptional(),
  /** Gallery-only columns, and the collections that the item is in. */
  gallery: z
    .object({
      ...factsOf(({ galleryOnly }) => galleryOnly),
      gallery_preview_revision: completeObject(columns.gallery_preview_revision.unwrap().unwrap())
        .nullable()
        .exactOptional(),
      collections: z
        .array(z.object({ collection_id: text, added_date: text, rank: number.exactOptional() }))
        .exactOptional(),
    })
    .exactOptional(),
  /** API fields that the specification does not know: sent as they are, in place of a column of the same name. */
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
const campaign = completeObject(columns.campaign_details.unwrap().element).extend({
  start_date: optionalText,
  end_date: optionalText,
});
const destination = completeObject(apiDestination);
const instance = completeObject(columns.instance.unwrap().unwrap());

/** `user_id`: the owner of the token. */
const token = z.object({ token: text.min(1), user_id: text });

/** Schema of a line of each file; tokens and instance are whole files. */
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

/** Value of a file or image field. Most views show only its `id`. */
export type FileValue = z.infer<typeof file>;

export type Document = z.infer<typeof document>;
export type DocumentTask = z.infer<typeof task>;
export type ContentType = z.infer<typeof contentType>;
export type User = z.infer<typeof user>;
export type Campaign = z.infer<typeof campaign>;
export type CustomField = z.infer<typeof customField>;
export type ServedDestination = z.infer<typeof destination>;
export type Token = z.infer<typeof token>;
export type ServedInstance = z.infer<typeof instance>;

/** The content of all files. */
export interface ContentSetData {
  /** In creation order. */
  readonly documents: readonly Document[];
  readonly contentTypes: readonly ContentType[];
  readonly users: readonly User[];
  readonly campaigns: readonly Campaign[];
  readonly customFields: readonly CustomField[];
  readonly destinations: readonly ServedDestination[];
  readonly tokens: readonly Token[];
  readonly instance: ServedInstance;
}

/** Text that sorts by time: without the `Z`, a longer fraction follows a shorter one that it begins with. */
export function sortableInstant(instant: string): string {
  return instant.replace("Z", "");
}
