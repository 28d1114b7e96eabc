import { oddFields, tarnbrook, type Vocabulary } from "./vocabulary.ts";

/** What kind of set is made of the words. Instants are milliseconds since 1970 UTC. */
export interface Profile {
  readonly vocabulary: Vocabulary;
  /** When the first item was made, and the moment that the set shows. */
  readonly fromMs: number; // inclusive
  readonly nowMs: number; // exclusive: no item is younger
  readonly people: (items: number) => number;
  /** Sections of an article: inclusive bounds. Other forms have what the least of them exceeds one by, besides their own. */
  readonly sections: readonly [number, number];
  /** What the words of a field say about how often it has a value is multiplied by this. */
  readonly fieldShare: number;
  /** Items before this index, and as many at the end, are left without oddities. */
  readonly plainItems: number;
  /** Every oddity of the set comes once in so many items. */
  readonly oddityPeriod: number;
  /** Only the oddities that a person would not stumble over. */
  readonly mildOddities: boolean;
  /** Every so many items one is an article that was translated from an earlier one. */
  readonly translationPeriod: number;
  /** Keys of the content types of the first items; after them chance decides. */
  readonly firstTypes: readonly string[];
  /** Titles never repeat; costs memory for each title. */
  readonly distinctTitles: boolean;
}

/** For tests and measurement: any number of items, every oddity often. */
export const bulk: Profile = {
  vocabulary: { ...tarnbrook, fields: [...tarnbrook.fields, ...oddFields] },
  fromMs: Date.UTC(2019, 0, 7, 8),
  nowMs: Date.UTC(2026, 9, 31),
  people: (items) => 40 + Math.round(4 * Math.log10(Math.max(1, items))),
  sections: [4, 6],
  fieldShare: 0.65,
  plainItems: 0,
  oddityPeriod: 200,
  mildOddities: false,
  translationPeriod: 37,
  firstTypes: [],
  distinctTitles: false,
};

/** For people: a little more than two years of a small team's work. */
export const sample: Profile = {
  vocabulary: tarnbrook,
  fromMs: Date.UTC(2024, 8, 2, 8),
  nowMs: Date.UTC(2026, 9, 31),
  people: () => tarnbrook.people.length,
  sections: [1, 2],
  fieldShare: 1,
  plainItems: 20,
  oddityPeriod: 230,
  mildOddities: true,
  translationPeriod: 38,
  firstTypes: [
    "article",
    "product_page",
    "newsletter",
    "article",
    "event",
    "social_post",
    "press_release",
    "video",
    "article",
    "brochure",
    "campaign_page",
    "webinar",
  ],
  distinctTitles: true,
};
