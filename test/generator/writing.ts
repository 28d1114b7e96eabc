import type { Plan } from "./plan.ts";
import { Random } from "./random.ts";
import { slotsOf } from "./story.ts";
import type { Story } from "./story-at.ts";
import { capital, escapeHtml, fill, isFilled, slugOf } from "./text.ts";
import type { Kind, Subject, TranslationWords } from "./vocabulary.ts";

/** The words of an item. */
export type Text = ReturnType<typeof textOf>;

const MOST_ATTEMPTS = 40;
/** After so many, an article whose subject has no title left takes one that fits any subject. */
const OWN_ATTEMPTS = 12;

/** `taken`: titles that must not be used again, to which the title is added; undefined: titles may repeat. */
export function textOf(plan: Plan, story: Story, taken: Set<string> | undefined) {
  let attempt = 0;
  let words = titleOf(plan, story, attempt);
  while (taken?.has(words.title) && attempt < MOST_ATTEMPTS) words = titleOf(plan, story, ++attempt);
  /** Whether the title is known to be the set's only one of its words. */
  const distinct = taken !== undefined && !taken.has(words.title);
  taken?.add(words.title);
  const random = Random.at(plan.seed, "body", story.index);
  const blocks = BODIES[story.planned.words.kind]({ plan, story, random, ...words });
  /** HTML; empty where the content type has no text. */
  const body = story.translation ? translated(story.translation) : blocks.join("\n");
  return { ...words, distinct, body, excerpt: random.chance(0.6) ? excerptOf(body) : null };
}

function titleOf(plan: Plan, story: Story, attempt: number) {
  const { vocabulary } = plan.profile;
  const random = Random.at(plan.seed, "title", story.index, attempt);
  const slots = slotsOf(plan, story, attempt);
  const { key, kind } = story.planned.words;
  if (story.translation) return { title: story.translation.title, slots, press: undefined };
  const press =
    kind === "press"
      ? random.pick(vocabulary.press.filter(({ title }) => isFilled(title, slots)))
      : undefined;
  const own = kind === "article" && attempt < OWN_ATTEMPTS;
  const templates = own ? story.subject.titles : (vocabulary.titles[key] ?? ["{Angle}"]);
  const fitting = templates.filter((template) => isFilled(template, slots));
  const template = press?.title ?? (fitting.length > 0 ? random.pick(fitting) : "{Angle}");
  return { title: capital(fill(template, slots)), slots, press };
}

interface Writer extends ReturnType<typeof titleOf> {
  readonly plan: Plan;
  readonly story: Story;
  readonly random: Random;
}

/** Blocks of HTML by kind; none: the content type has no text. */
const BODIES: Readonly<Record<Kind, (writer: Writer) => string[]>> = {
  article: (writer) => [...sections(writer), p(closing(writer))],
  page: (writer) => [
    p(productLead(writer), opening(writer)),
    "<h3>Good to know</h3>",
    list(sentences(writer, writer.story.subject, 4)),
    ...extras(writer),
    p(closing(writer)),
    link(writer, writer.slots.product === undefined ? "Find out more" : "Find a dealer"),
  ],
  press: pressRelease,
  email: (writer) => [
    "<p>Hello {{first_name}},</p>",
    p(opening(writer), ...sentences(writer, writer.story.subject, 3)),
    ...extras(writer),
    p(closing(writer)),
    link(writer, writer.random.pick(["Read the guide", "See the range", "Read on", "Order the part"])),
    "<p>Your Tarnbrook team</p>",
  ],
  social: (writer) => {
    const tags = writer.random
      .some(writer.story.topic.tags, 2)
      .map((tag) => `#${tag.replace(/[^a-z]/g, "")}`);
    return [
      p(
        ...sentences(writer, writer.story.subject, 2),
        writer.random.pick(["", "🏔️", "⛺", "👉 Link in bio.", "🌧️"]),
        ...tags,
      ),
    ];
  },
  event: (writer) => [
    p(`Join us in ${writer.story.place.name}.`, opening(writer)),
    "<h3>What to expect</h3>",
    list(sentences(writer, writer.story.subject, 3)),
    ...extras(writer),
    p("Places are free, but limited; please register by the Friday before.", closing(writer)),
  ],
  webinar: (writer) => [
    p(
      opening(writer),
      `In forty-five minutes, ${writer.slots.person} shows what matters about ${writer.slots.angle}.`,
    ),
    list(sentences(writer, writer.story.subject, 3)),
    ...extras(writer),
    p("There is time for questions, and a recording for those who cannot be there."),
  ],
  media: () => [],
  file: () => [],
  card: () => [],
};

/** As many sections as the profile asks for; the subject of the item first, then others of its topic. */
function sections(writer: Writer): string[] {
  const { plan, story, random } = writer;
  const count = random.int(...plan.profile.sections);
  return [p(opening(writer), ...sentences(writer, story.subject, 4)), ...furtherSections(writer, count - 1)];
}

/** What a form that is short in a small set says besides, where the profile asks for long texts. */
function extras(writer: Writer): string[] {
  return furtherSections(writer, writer.plan.profile.sections[0] - 1);
}

function furtherSections(writer: Writer, count: number): string[] {
  const { story, random } = writer;
  const others = random.some(
    story.topic.subjects.filter((subject) => subject !== story.subject),
    8,
  );
  const blocks: string[] = [];
  for (let section = 0; section < count; section++) {
    const subject = others[section % others.length] ?? story.subject;
    const told = sentences(writer, subject, 4);
    blocks.push(`<h2>${escapeHtml(subject.heading)}</h2>`, random.chance(0.25) ? list(told) : p(...told));
  }
  return blocks;
}

/** At least so many characters: sections without end. */
export function longBody(plan: Plan, story: Story, characters: number): string {
  const random = Random.at(plan.seed, "long", story.index);
  const writer = { plan, story, random, title: "", slots: slotsOf(plan, story, 0), press: undefined };
  const blocks: string[] = [];
  for (let length = 0; length < characters; ) {
    const more = sections(writer).join("\n");
    blocks.push(more);
    length += more.length + 1;
  }
  return blocks.join("\n");
}

function pressRelease(writer: Writer): string[] {
  const { story, slots, press, random } = writer;
  const said = (press?.quote ?? "").replace(/\.$/, ",");
  return [
    p(`${story.place.name} – ${fill(press?.lead ?? "", slots)}`),
    p(`“${said}” says ${slots.person} of Tarnbrook Outdoor.`),
    random.chance(0.6)
      ? "<p>Images and figures are available in the press room.</p>"
      : link(writer, "To the press room"),
    "<h3>About Tarnbrook Outdoor</h3>",
    "<p>Tarnbrook Outdoor makes tents, packs, boots and clothing that can be repaired. The company employs about two hundred people and sells through specialist dealers in nineteen countries.</p>",
  ];
}

function opening({ story, slots, random }: Writer): string {
  const { open } = random.chance(0.7) ? story.subject : story.topic;
  const fitting = open.filter((text) => isFilled(text, slots));
  return fill(random.pick(fitting), slots);
}

/** What a product page begins with; nothing on other pages. */
function productLead({ plan, story, slots, random }: Writer): string {
  if (story.planned.words.key !== "product_page") return "";
  return fill(random.pick(plan.profile.vocabulary.productLeads), slots);
}

function closing({ story, slots, random }: Writer): string {
  return fill(random.pick(story.topic.close), slots);
}

/** Some of a subject's sentences, in their order: always the first, which says what the others are about. */
function sentences({ slots, random }: Writer, subject: Subject, count: number): string[] {
  const [first, ...others] = subject.sentences;
  const chosen = new Set([first, ...random.some(others, count - 1)]);
  return subject.sentences.filter((text) => chosen.has(text)).map((text) => fill(text, slots));
}

function p(...texts: readonly string[]): string {
  return `<p>${escapeHtml(texts.filter((text) => text !== "").join(" "))}</p>`;
}

function list(items: readonly string[]): string {
  return `<ul>${items.map((item) => `<li>${escapeHtml(item)}</li>`).join("")}</ul>`;
}

function link({ plan, slots, story }: Writer, text: string): string {
  const path = slugOf(slots.product ?? story.subject.angle);
  return `<p><a href="https://www.${plan.instance.subdomain}.example/${path}">${escapeHtml(text)}</a></p>`;
}

function translated({ paragraphs, rtl }: TranslationWords): string {
  const open = rtl ? '<p dir="rtl">' : "<p>";
  return paragraphs.map((text) => `${open}${escapeHtml(text)}</p>`).join("\n");
}

/** The first sentences of the first paragraph that says something, as plain text. */
function excerptOf(body: string): string | null {
  const paragraph = /<p[^>]*>((?!Hello )[^<]+)<\/p>/.exec(body)?.[1];
  if (paragraph === undefined) return null;
  const [first = "", second = ""] = paragraph.split(/(?<=[.?!。]) ?/);
  const html = first.length < 60 ? `${first} ${second}`.trim() : first;
  return html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
