import type { CustomField, Document, ServedDestination } from "../../src/service/content-set.ts";
import type { ContentSetFolder } from "./content-set.ts";
import type { ExportOptions } from "./rows.ts";
import { type Emit, instant, orNull } from "./values.ts";

/** What the items of an export mention; only what an answer describes has a row. */
export class Mentions {
  readonly #set: ContentSetFolder;
  readonly #types = new Set<string>();
  readonly #campaigns = new Set<string>();
  readonly #users = new Set<string>();
  /** Users whom `full` describes: with `superadmin` and the extended attributes. */
  readonly #extendedUsers = new Set<string>();
  /** Fields that `full` shows, and those of which an item has a value that `custom_fields_details` shows. */
  readonly #fields = new Set<string>();
  readonly #detailedFields = new Set<string>();
  /** Items by content type and field that `full` lists. */
  readonly #listedFields = new Map<
    string,
    { content_type_id: string; custom_field_id: string; items: number }
  >();
  #items = 0;

  constructor(set: ContentSetFolder) {
    this.#set = set;
  }

  add(document: Document): void {
    this.#items += 1;
    this.#types.add(document.content_type);
    for (const id of document.campaigns ?? []) this.#campaigns.add(id);
    for (const id of [document.author, document.creator]) if (id) this.#users.add(id);
    for (const id of [document.last_updated_by, document.owner]) {
      if (!id) continue;
      this.#users.add(id);
      this.#extendedUsers.add(id);
    }
    const values = document.custom_fields ?? {};
    for (const { id, content_types } of this.#set.fields) {
      const hasValue = Object.hasOwn(values, id);
      const isCarried = content_types === undefined || content_types.includes(document.content_type);
      if (hasValue || isCarried) {
        this.#fields.add(id);
        const of = { content_type_id: document.content_type, custom_field_id: id };
        const listed = this.#listedFields.get(JSON.stringify(of)) ?? { ...of, items: 0 };
        this.#listedFields.set(JSON.stringify(of), { ...listed, items: listed.items + 1 });
      }
      if (hasValue) this.#detailedFields.add(id);
    }
  }

  rows({ personalData }: ExportOptions, emit: Emit): void {
    const { types, campaigns, users, instance } = this.#set;
    for (const type of types.values()) {
      if (!this.#types.has(type.id)) continue;
      const { id, newsroom_id, updated_at, file_format: _, ...rest } = type;
      const row = { content_type_id: id, ...rest, instance_id: newsroom_id, updated_at: instant(updated_at) };
      emit("content_types", { ...row, extra: null });
    }
    for (const campaign of campaigns.values()) {
      if (!this.#campaigns.has(campaign.id)) continue;
      emit("campaigns", {
        campaign_id: campaign.id,
        name: campaign.name,
        start_date: instant(campaign.start_date),
        end_date: instant(campaign.end_date),
        instance_id: campaign.newsroom_id,
        created_at: instant(campaign.created_at),
        updated_at: instant(campaign.updated_at),
        extra: null,
      });
    }
    for (const listed of this.#listedFields.values()) emit("content_type_custom_fields", listed);
    if (this.#items > 0) {
      const { id, name, subdomain } = instance;
      emit("instances", { instance_id: id, name, subdomain, extra: null });
    }
    for (const user of users.values()) {
      if (this.#users.has(user.id)) this.#userRows(user.id, personalData === "keep", emit);
    }
  }

  #userRows(userId: string, keep: boolean, emit: Emit): void {
    const user = this.#set.users.get(userId);
    if (user === undefined) return;
    const isExtended = this.#extendedUsers.has(userId);
    emit("users", {
      user_id: user.id,
      email: keep ? user.email : null,
      name: keep ? user.name : null,
      name_sort: keep && isExtended ? user.name_sort : null,
      slug: keep ? user.slug : null,
      bio: keep ? user.bio : null,
      short_bio: keep ? user.short_bio : null,
      phone: keep ? user.phone : null,
      avatar_feed_url: keep ? user.avatar_feed_url : null,
      avatar_thumbnail_url: keep ? user.avatar_thumbnail_url : null,
      avatar_profile_large_url: keep ? user.avatar_profile_large_url : null,
      avatar_profile_url: keep ? user.avatar_profile_url : null,
      tz: user.tz,
      visitor: user.visitor,
      follow_discussion_allowed: user.follow_discussion_allowed,
      superadmin: isExtended ? user.superadmin : null,
      role: isExtended ? user.role : null,
      removed: isExtended ? user.removed : null,
      created_at: instant(user.created_at),
      updated_at: instant(user.updated_at),
      extra: null,
    });
    user.tours_seen.forEach((tour, ordinal) => {
      emit("user_tours_seen", { user_id: user.id, ordinal, tour, extra: null });
    });
    if (!isExtended) return;
    user.group_ids.forEach((group_id, ordinal) => {
      emit("user_groups", { user_id: user.id, ordinal, group_id, extra: null });
    });
  }

  /** The definitions that the lookup gives: all that share a name with a field that items carry or that is asked for. */
  lookedUpFields({ customFields }: ExportOptions): CustomField[] {
    const names = new Set(customFields);
    for (const { id, name } of this.#set.fields) if (this.#fields.has(id)) names.add(name);
    return this.#set.fields.filter((field) => names.has(field.name));
  }

  fieldRows(fields: readonly CustomField[], emit: Emit): void {
    for (const field of fields) {
      const full = this.#fields.has(field.id) ? field : undefined;
      const options = full?.options ?? {};
      emit("custom_fields", {
        custom_field_id: field.id,
        name: field.name,
        display_label: field.display_label,
        field_type: field.field_type,
        default_value: orNull(full?.default_value),
        instructions: orNull(full?.instructions),
        html: this.#detailedFields.has(field.id) ? (field.options.html ?? false) : null,
        visible_in_previews: orNull(full?.visible_in_previews),
        visible_in_insights: orNull(full?.visible_in_insights),
        option_editor_or_admin_only: orNull(options.editor_or_admin_only),
        option_required_field: orNull(options.required_field),
        option_api_only: orNull(options.api_only),
        option_html: orNull(options.html),
        option_multiline: orNull(options.multiline),
        option_show_character_count: orNull(options.show_character_count),
        option_publish_as_array: orNull(options.publish_as_array),
        option_publish_as_hash: orNull(options.publish_as_hash),
        options: null,
        instance_id: full === undefined ? null : this.#set.instance.id,
        created_at: instant(full?.created_at),
        from_lookup: true,
        extra: null,
      });
      (field.formatted_select_values ?? []).forEach(({ id, display, value, archived }, ordinal) => {
        const row = {
          custom_field_id: field.id,
          value_id: id,
          ordinal,
          display,
          value,
          archived,
          extra: null,
        };
        emit("custom_field_select_values", row);
      });
    }
  }
}

export function mappingRows(
  fields: readonly CustomField[],
  lookedUp: readonly ServedDestination[],
  emit: Emit,
): void {
  const named = new Set<string>();
  for (const field of fields) {
    field.mappings.forEach((mapping, ordinal) => {
      named.add(mapping.external_site_id);
      emit("custom_field_mappings", {
        mapping_id: mapping.id,
        custom_field_id: field.id,
        destination_id: mapping.external_site_id,
        ordinal,
        external_field_name: mapping.field_name,
        extra: null,
      });
      mapping.values.forEach((entry, at) => {
        emit("custom_field_mapping_values", {
          mapping_value_id: entry.id,
          mapping_id: mapping.id,
          ordinal: at,
          value_id: entry.value_id,
          external_value: entry.value,
          extra: null,
        });
      });
    });
  }
  for (const { id, ...rest } of lookedUp) {
    named.delete(id);
    const receives = rest.supports_custom_field_mappings !== false;
    emit("destinations", { destination_id: id, ...rest, receives, extra: null });
  }
  for (const id of named) {
    const unknown = {
      identification: null,
      platform: null,
      supports_custom_field_mappings: null,
      receives: true,
    };
    emit("destinations", { destination_id: id, ...unknown, extra: null });
  }
}
