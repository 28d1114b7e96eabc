import type { ContentType, CustomField, Token, User } from "../../src/service/content-set.ts";
import type { Profile } from "./profile.ts";
import { Random } from "./random.ts";
import { slugOf } from "./text.ts";
import type { FieldWords, TypeWords } from "./vocabulary.ts";

/** Everything of a content set but its items: small, and made before the first of them. */
export type Plan = ReturnType<typeof makePlan>;
export type PlannedType = Plan["types"][number];
export type PlannedCampaign = Plan["campaigns"][number];
export type PlannedField = ReturnType<typeof makeField>;

/** Opaque ID of a shared thing: 24 hex digits that depend on seed, kind and name alone. */
export function sharedId(seed: number, kind: string, name: string): string {
  return Random.at(seed, "id", kind, name).hex(24);
}

export function makePlan(profile: Profile, items: number, seed: number) {
  const { vocabulary: words } = profile;
  const id = (kind: string, name: string) => sharedId(seed, kind, name);
  const instanceId = id("instance", words.instance.name);
  const groupIds = words.groups.map((name) => id("group", name));
  const users = makeUsers(profile, items, seed, groupIds);
  const types = words.types.map((type) => ({
    words: type,
    weight: type.weight,
    type: makeType(type, seed, instanceId),
  }));
  const typeIds = new Map(types.map(({ words: { key }, type }) => [key, type.id]));
  return {
    seed,
    items,
    profile,
    /** Ten hex digits in the middle of every item ID. */
    machine: Random.at(seed, "machine").hex(10),
    instance: { id: instanceId, ...words.instance },
    types,
    users,
    campaigns: words.campaigns.map(({ name, from, to, topics }) => ({
      topics,
      fromMs: Date.parse(from),
      toMs: to === null ? profile.nowMs : Date.parse(to),
      campaign: {
        id: id("campaign", name),
        name,
        created_at: iso(Date.parse(from) - 40 * DAY_MS + Random.at(seed, "campaign", name).int(0, DAY_MS)),
        updated_at: iso(
          Date.parse(from) - 9 * DAY_MS + Random.at(seed, "campaign", name, "u").int(0, DAY_MS),
        ),
        start_date: `${from}T00:00:00Z`,
        end_date: to === null ? null : `${to}T00:00:00Z`,
        newsroom_id: instanceId,
      },
    })),
    fields: words.fields.map((field) => makeField(field, seed, typeIds)),
    destinations: words.destinations.map(({ name, platform, mappings }) => ({
      id: id("destination", name),
      identification: name,
      platform,
      supports_custom_field_mappings: mappings,
    })),
    tokens: makeTokens(users),
    personaIds: words.personas.map((name) => id("persona", name)),
    stageIds: words.stages.map((name) => id("stage", name)),
    groupIds,
    collectionIds: words.collections.map((name) => id("collection", name)),
  };
}

export const DAY_MS = 86_400_000;

/** To the second, as the specification writes instants. */
export function iso(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function makeType(words: TypeWords, seed: number, instanceId: string): ContentType {
  return {
    id: sharedId(seed, "type", words.key),
    background_color: words.color,
    body_type: words.bodyType,
    display_name: words.name,
    field_name: words.key,
    icon: words.icon,
    icon_css_class: `icon-${words.icon}`,
    newsroom_id: instanceId,
    updated_at: iso(Date.UTC(2024, 5, 3, 9) + Random.at(seed, "type", words.key).int(0, 60 * DAY_MS)),
    ...(words.format && {
      file_format: { name: words.format.name, extensions: [...words.format.extensions] },
    }),
  };
}

function makeUsers(profile: Profile, items: number, seed: number, groupIds: readonly string[]): User[] {
  const { people, firstNames, lastNames, instance } = profile.vocabulary;
  return Array.from({ length: profile.people(items) }, (_, index) => {
    const random = Random.at(seed, "user", index);
    const known = people[index];
    const name = known?.name ?? `${random.pick(firstNames)} ${random.pick(lastNames)}`;
    const slug = known ? slugOf(name) : `${slugOf(name)}-${index}`;
    const id = sharedId(seed, "user", slug);
    const avatar = (size: string) => `https://${instance.subdomain}.example/avatars/${id}/${size}.png`;
    const bare = known === undefined && index % 5 === 0;
    const created = Date.UTC(2018, 2, 5, 9) + random.int(0, 2000) * DAY_MS;
    return {
      id,
      email: `${slug.replaceAll("-", ".")}@${instance.subdomain}.example`,
      name,
      avatar_feed_url: bare ? "" : avatar("feed"),
      avatar_thumbnail_url: bare ? "" : avatar("thumb"),
      avatar_profile_large_url: bare ? "" : avatar("large"),
      avatar_profile_url: bare ? "" : avatar("profile"),
      slug,
      created_at: iso(created),
      updated_at: iso(created + random.int(100, 900) * DAY_MS),
      bio: known?.bio ?? "",
      short_bio: known ? known.bio.slice(0, known.bio.indexOf(".") + 1) : "",
      visitor: known ? known.visitor === true : index % 7 === 0,
      tz: known?.tz ?? random.pick(profile.vocabulary.places).tz,
      follow_discussion_allowed: random.chance(0.8),
      superadmin: index === 0,
      tours_seen: random.some(["welcome", "calendar", "gallery", "custom_fields"], random.int(0, 4)),
      phone: known && random.chance(0.6) ? `+44 20 7946 0${random.int(100, 999)}` : "",
      name_sort: name.split(" ").reverse().join(", ").toLowerCase(),
      removed: known?.removed ?? random.chance(0.05),
      role: known?.role ?? random.pick(["contributor", "contributor", "editor", "viewer"]),
      group_ids: random.some(groupIds, random.int(0, 2)),
    };
  });
}

function makeTokens(users: readonly User[]): Token[] {
  const of = (role: string) =>
    users.find((user) => user.role === role && !user.removed)?.id ?? users[0]?.id ?? "";
  return [
    { token: "sample-token", user_id: of("editor") },
    { token: "sample-viewer-token", user_id: of("viewer") },
  ];
}

const BASE_OPTIONS = { editor_or_admin_only: false, required_field: false, api_only: false };
const TYPE_OPTIONS: Readonly<Record<string, Record<string, boolean>>> = {
  text: { html: false, multiline: false, show_character_count: false },
  select: { publish_as_array: false, publish_as_hash: false },
  multiselect: { publish_as_array: true, publish_as_hash: false },
};

function makeField(words: FieldWords, seed: number, typeIds: ReadonlyMap<string, string>) {
  const key = words.key ?? words.name;
  const id = (kind: string, name: string) => sharedId(seed, kind, `${key}/${name}`);
  const valueIds = new Map<string, string>();
  const selectValues = (words.values ?? []).map((given) => {
    const value = typeof given === "string" ? { display: given } : given;
    const again = valueIds.has(value.display);
    const valueId = id("value", again ? `${value.display}/${value.value}` : value.display);
    if (!again) valueIds.set(value.display, valueId);
    return {
      id: valueId,
      display: value.display,
      value: value.value ?? value.display,
      archived: value.archived ?? false,
    };
  });
  const field: CustomField = {
    id: id("field", ""),
    field_type: words.type,
    display_label: words.label,
    name: words.name,
    ...(words.type === "text" && { default_value: words.default ?? "" }),
    created_at: iso(Date.UTC(2023, 1, 6, 9) + Random.at(seed, "field", key).int(0, 500 * DAY_MS)),
    ...(words.values && { formatted_select_values: selectValues }),
    options: { ...BASE_OPTIONS, ...TYPE_OPTIONS[words.type], ...words.options },
    visible_in_previews: words.preview ?? false,
    visible_in_insights: words.values !== undefined,
    instructions: words.instructions ?? null,
    mappings: (words.mappings ?? []).map(({ to, as, values = {} }) => ({
      id: id("mapping", `${to}/${as}`),
      field_name: as,
      external_site_id: sharedId(seed, "destination", to),
      values: Object.entries(values).flatMap(([display, external]) =>
        [external].flat().map((value, ordinal) => ({
          id: id("entry", `${to}/${as}/${display}/${ordinal}`),
          value_id: valueIds.get(display) ?? id("value", display),
          value,
        })),
      ),
    })),
    ...(words.types && {
      content_types: words.types.map((type) => typeIds.get(type) ?? sharedId(seed, "type", type)),
    }),
  };
  return { words, key, field };
}
