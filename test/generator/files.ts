import type { Attachment, ContentFile, Document } from "../../src/service/content-set.ts";
import type { ItemContext } from "./field-values.ts";
import { iso, type Plan } from "./plan.ts";
import { Random } from "./random.ts";
import { slugOf } from "./text.ts";

/** Content type key to what stands for it: extensions, the viewer that shows them, the range of sizes in bytes. */
const FILES: Readonly<
  Record<string, { extensions: readonly string[]; viewer: string; bytes: readonly [number, number] }>
> = {
  video: { extensions: ["mp4", "mp4", "mov"], viewer: "video", bytes: [40_000_000, 3_000_000_000] },
  podcast: { extensions: ["mp3", "m4a"], viewer: "audio", bytes: [9_000_000, 80_000_000] },
  photo: { extensions: ["jpg", "jpg", "png"], viewer: "photo", bytes: [800_000, 28_000_000] },
  brochure: { extensions: ["pdf"], viewer: "pdf", bytes: [300_000, 45_000_000] },
  asset_file: { extensions: ["zip", "ai", "xlsx"], viewer: "none", bytes: [20_000, 900_000_000] },
};

/** Files of an item: its content file with what shows it, pictures in its text, thumbnails. */
export function filesOf(item: ItemContext): Partial<Document> {
  const { plan, story, text } = item;
  const random = Random.at(plan.seed, "files", story.index);
  const { key, kind } = story.planned.words;
  const file = contentFile(item, random);
  const thumbnail = `${hostOf(plan)}/thumbs/${random.hex(16)}.jpg`;
  const attachments = text.body === "" || random.chance(0.45) ? [] : attachmentsOf(item, random);
  return {
    ...(attachments.length > 0 && { attachments }),
    ...(file && {
      content_file: file,
      media_url: file.url,
      viewer_compatibility: FILES[key]?.viewer ?? "none",
    }),
    ...(key === "shared_draft" && { viewer_compatibility: "doc_provider" }),
    ...((file ?? random.chance(0.5)) && { thumbnail_url: thumbnail }),
    ...(kind === "social" && { content_thumbnail_url: thumbnail }),
  };
}

function hostOf({ instance }: Plan): string {
  return `https://files.${instance.subdomain}.example`;
}

function contentFile({ plan, story, life, text }: ItemContext, random: Random): ContentFile | undefined {
  const kind = FILES[story.planned.words.key];
  if (kind === undefined || random.chance(0.06)) return undefined;
  const extension = random.pick(kind.extensions);
  const id = random.hex(24);
  const filename = `${slugOf(text.title).slice(0, 60) || id}.${extension}`;
  const [least, most] = kind.bytes;
  return {
    id,
    updated_at: iso(life.updatedMs - random.int(0, 2) * 3_600_000),
    url: `${hostOf(plan)}/${id}/${filename}`,
    filename,
    extension,
    size: Math.round(least * (most / least) ** random.next()),
    public: random.chance(0.6),
    subdomain: plan.instance.subdomain,
    permanent_url: `${hostOf(plan)}/permanent/${id}`,
  };
}

function attachmentsOf({ plan, story, life }: ItemContext, random: Random): Attachment[] {
  const { createdMs, subject, place, topic } = story;
  const words = slugOf(`${topic.name} ${place.name}`);
  return Array.from({ length: random.int(1, 2) }, (_, ordinal) => {
    const id = random.hex(24);
    const filename = `${words}-${ordinal + 1}.jpg`;
    return {
      id,
      url: `${hostOf(plan)}/${id}/${filename}`,
      filename,
      updated_at: iso(createdMs + Math.floor((life.updatedMs - createdMs) * random.next())),
      image_attributes: {
        caption: random.chance(0.7) ? `${place.name}: ${subject.angle}` : null,
        alt: random.chance(0.8) ? `${subject.heading}, ${place.name}` : random.chance(0.5) ? "" : null,
        title: random.chance(0.5) ? filename : null,
      },
    };
  });
}
