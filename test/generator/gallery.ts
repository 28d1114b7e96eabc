import { SHARE_CHANNELS } from "../../src/api/field.ts";
import type { Document } from "../../src/service/content-set.ts";
import type { ItemContext } from "./field-values.ts";
import { iso } from "./plan.ts";
import { Random } from "./random.ts";

/** Of published items, the part of each kind that is shown in the gallery. */
const SHOWN: Readonly<Record<string, number>> = {
  file: 0.85,
  media: 0.7,
  press: 0.6,
  article: 0.3,
  page: 0.3,
  card: 0.1,
};
const NOTES = [
  "Cleared for dealers until the end of the season.",
  "Please credit the photographer.",
  "Not for paid advertising.",
  "Crop freely, but keep the horizon level.",
];

/** What the gallery knows of an item: collections, sharing, favourites. Empty for what is not in the gallery. */
export function galleryOf({ plan, story, life, text }: ItemContext): Partial<Document> {
  const random = Random.at(plan.seed, "gallery", story.index);
  const { kind, key } = story.planned.words;
  const from = life.publishedMs ?? life.completedMs;
  if (from === undefined || !random.chance(SHOWN[kind] ?? 0.05)) return {};
  const host = `https://files.${plan.instance.subdomain}.example`;
  const rest = Math.max(1, life.updatedMs - from);
  const later = () => iso(from + Math.floor(random.next() * rest));
  const collections = random.some(plan.collectionIds, random.int(0, 2)).map((collection_id, ordinal) => ({
    collection_id,
    added_date: later(),
    ...(ordinal === 0 && random.chance(0.4) && { rank: random.int(1, 12) }),
  }));
  const previewId = random.hex(24);
  const fans = random.some(plan.users, random.chance(0.35) ? random.int(1, 4) : 0);
  return {
    synced_to_gallery_date: iso(from),
    library_tracking_url: `https://go.${plan.instance.subdomain}.example/${random.hex(10)}`,
    ...(random.chance(0.25) && { repository_notes: random.pick(NOTES) }),
    ...(fans.length > 0 && { favorites: fans.map(({ id }) => ({ user_id: id, date: later() })) }),
    ...(random.chance(0.12) && {
      crm_shared_with_ids: [random.hex(18), random.hex(18)].slice(0, random.int(1, 2)),
    }),
    gallery: {
      ...(collections.length > 0 && {
        collections,
        pinned: collections.some(({ rank }) => rank !== undefined),
      }),
      gallery_can_bundle: random.chance(0.5),
      gallery_can_download: random.chance(0.9),
      gallery_can_share: random.chance(0.85),
      gallery_bundle_can_download: random.chance(0.9),
      gallery_bundle_can_share: random.chance(0.9),
      gallery_bundle_settings_overridden: random.chance(0.1),
      ...(random.chance(0.4) && {
        gallery_share_settings: random.some<string>(SHARE_CHANNELS, random.int(1, 5)),
      }),
      ...(kind === "file" && {
        download_url: `${host}/download/${previewId}`,
        gallery_viewer_compatibility: key === "photo" ? "photo" : "pdf",
        gallery_preview_revision: {
          id: previewId,
          url: `${host}/${previewId}/preview.jpg`,
          filename: `${text.title.slice(0, 40)} (preview).jpg`,
          extension: "jpg",
          size: random.int(20_000, 400_000),
        },
      }),
      ...(key === "shared_draft" && {
        doc_provider_file_id: random.hex(33),
        doc_provider_preview_url: `https://docs.example/d/${random.hex(33)}/preview`,
        gallery_viewer_compatibility: "doc_provider",
      }),
    },
  };
}
