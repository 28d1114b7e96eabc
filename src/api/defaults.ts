import type { BasicItem } from "./basic.ts";
import type { FullItem } from "./full.ts";

/**
 * What a field is when the service has nothing for it: a JSON value, or `required` where the specification gives
 * no default because every item has one.
 */
export type Default = { readonly required: true } | { readonly value: DefaultValue };
export type DefaultValue =
  | null
  | boolean
  | number
  | string
  | readonly string[]
  | Readonly<Record<string, never>>;

export const required: Default = { required: true };
export const nothing: Default = { value: null };
export const no: Default = { value: false };
export const yes: Default = { value: true };
export const none: Default = { value: "none" };
export const emptyText: Default = { value: "" };
export const emptyList: Default = { value: [] };
export const emptyObject: Default = { value: {} };
export const noTitle: Default = { value: "(no title)" };
export const planned: Default = { value: "planned" };

/** Channels that an item can be shared to unless its gallery settings say otherwise. */
export const SHARE_CHANNELS = [
  "published_url",
  "tracking_url",
  "email",
  "social_a",
  "social_b",
  "social_c",
] as const;

/** Defaults of `detail=basic`. */
export const BASIC_DEFAULTS: Readonly<Record<KnownKey<BasicItem>, Default>> = {
  archived: no,
  assignee_id: nothing,
  campaign_ids: emptyList,
  content_type: required,
  creator_id: nothing,
  factory_url: required,
  id: required,
  next_task: { value: "Completed" },
  preferred_title: noTitle,
  progress_stage: planned,
  published_date: nothing,
  slug: required,
  state: { value: "production" },
  title: nothing,
  updated_at: required,
  categories: required,
};

/** Defaults of what `detail=full` adds to basic. */
export const FULL_DEFAULTS: Readonly<Record<Exclude<KnownKey<FullItem>, KnownKey<BasicItem>>, Default>> = {
  last_updated_by_details: nothing,
  owner_details: nothing,
  owner: nothing,
  attachments: emptyList,
  content: emptyText,
  custom_fields: emptyList,
  last_updated_by: nothing,
  library_tracking_url: nothing,
  media_url: nothing,
  persona_ids: emptyList,
  published_url: emptyText,
  stage_ids: emptyList,
  tags: emptyList,
};

/** The declared keys of a loose object's type, without its index signature. */
type KnownKey<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };
