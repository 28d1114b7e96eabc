/** Words written by hand, from which a content set is put together: the data in the folder `vocabulary`. */
import { readFileSync } from "node:fs";

export interface Vocabulary {
  readonly instance: { readonly name: string; readonly subdomain: string };
  readonly types: readonly TypeWords[];
  readonly people: readonly PersonWords[];
  /** For more people than `people` has. */
  readonly firstNames: readonly string[];
  readonly lastNames: readonly string[];
  readonly groups: readonly string[];
  readonly campaigns: readonly {
    readonly name: string;
    /** `YYYY-MM-DD`. */
    readonly from: string;
    readonly to: string | null;
    /** Names of the topics it is about; empty: any. */
    readonly topics: readonly string[];
  }[];
  readonly destinations: readonly {
    readonly name: string;
    readonly platform: string;
    readonly mappings: boolean;
  }[];
  readonly fields: readonly FieldWords[];
  readonly topics: readonly Topic[];
  /**
   * Titles by the key of the content type; articles take those of their subject, and these when they are used up. A
   * template whose slot has no words for an item (a campaign where none runs) is left out for it.
   */
  readonly titles: Readonly<Record<string, readonly string[]>>;
  /** A press release has a text of its own. */
  readonly press: readonly {
    readonly title: string;
    readonly lead: string;
    readonly quote: string;
  }[];
  /** First sentences of product pages. */
  readonly productLeads: readonly string[];
  readonly translations: readonly TranslationWords[];
  /** Descriptions of the tasks of an item, in order. */
  readonly workflows: Readonly<Record<Kind, readonly string[]>>;
  readonly places: readonly Place[];
  readonly personas: readonly string[];
  readonly stages: readonly string[];
  readonly collections: readonly string[];
}

/** How an item of a content type reads: decides title, body, files and tasks. */
export type Kind =
  | "article"
  | "page"
  | "press"
  | "email"
  | "social"
  | "event"
  | "webinar"
  | "media"
  | "file"
  | "card";

export interface TypeWords {
  readonly bodyType: string;
  /** Display name. */
  readonly name: string;
  /** `field_name`. */
  readonly key: string;
  readonly color: string;
  readonly icon: string;
  readonly kind: Kind;
  readonly weight: number;
  /** Names of the topics it is used for; missing: all. */
  readonly topics?: readonly string[];
  readonly format?: { readonly name: string; readonly extensions: readonly string[] };
}

export interface PersonWords {
  readonly name: string;
  readonly role: string;
  readonly tz: string;
  readonly bio: string;
  /** Left the team. */
  readonly removed?: true;
  /** Helps out, with an account for guests. */
  readonly visitor?: true;
}

export interface Place {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly tz: string;
  /** Display of the value of the field `region`. */
  readonly region: string;
}

export interface FieldWords {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  /** Of the items that carry the field, the part that has a value: 0 to 1. */
  readonly share: number;
  /** Tells definitions of one name apart; missing: the name. */
  readonly key?: string;
  readonly values?: readonly (string | ValueWords)[];
  readonly mappings?: readonly {
    /** Name of a destination; a name that is none gives a mapping to an ID that is not in the set. */
    readonly to: string;
    /** External field name. */
    readonly as: string;
    /** Display of a select value to its external value; a list gives several entries for one value. */
    readonly values?: Readonly<Record<string, string | readonly string[]>>;
  }[];
  /** `key` of the content types that carry it; missing: all. */
  readonly types?: readonly string[];
  readonly options?: Readonly<Record<string, boolean>>;
  readonly default?: string;
  readonly instructions?: string;
  /** Shown in previews and the gallery. */
  readonly preview?: true;
  /** Has a value only where the topic prefers some. */
  readonly onlyFitting?: true;
}

interface ValueWords {
  readonly display: string;
  /** Missing: as `display`. */
  readonly value?: string;
  readonly archived?: true;
}

/**
 * What the team writes about. Texts may hold slots: `{product}`, `{place}`, `{season}`, `{year}`, `{Month}`,
 * `{person}`, `{n}` ("three" to "nine") and others of `Slots` in story.ts; with a capital the words begin with one.
 */
export interface Topic {
  readonly name: string;
  readonly weight: number;
  readonly category: string;
  readonly tags: readonly string[];
  /** Empty where the topic is not about things that are sold. */
  readonly products: readonly string[];
  /** First sentences of a text on any of its subjects. */
  readonly open: readonly string[];
  readonly subjects: readonly Subject[];
  /** Last sentences of a text. */
  readonly close: readonly string[];
  /** Field name to the displays that fit the topic. */
  readonly prefers: Readonly<Record<string, readonly string[]>>;
}

/** One side of a topic: what an item is about. */
export interface Subject {
  /** Short noun phrase for titles: "pitching in the wind". */
  readonly angle: string;
  /** Those of the topic's products that it fits; missing: all. */
  readonly products?: readonly string[];
  /** First sentences of a text on it. */
  readonly open: readonly string[];
  /** Heading of its section in a body. */
  readonly heading: string;
  /** Titles of articles. */
  readonly titles: readonly string[];
  /** Any of them, in this order, read well together. */
  readonly sentences: readonly string[];
}

/** An item that was translated: what an item with `localized_from_id` says. */
export interface TranslationWords {
  /** Display of the value of the field `language`; one that is no value of it leaves the field empty. */
  readonly language: string;
  /** Names of topic and place. */
  readonly topic: string;
  readonly place: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** Written from right to left. */
  readonly rtl?: true;
}

/** Tarnbrook Outdoor: an invented maker of outdoor equipment and its invented marketing team. */
export const tarnbrook = {
  ...words("company"),
  ...words("people"),
  ...words("types"),
  ...words("press"),
  campaigns: words("campaigns"),
  fields: words("fields"),
  titles: words("titles"),
  topics: words("topics"),
  translations: words("translations"),
} as Vocabulary;

/** Definitions that no team would admit to, and every old instance has. */
export const oddFields = words("odd-fields") as unknown as readonly FieldWords[];

function words(name: string): object {
  return JSON.parse(readFileSync(new URL(`./vocabulary/${name}.json`, import.meta.url), "utf8"));
}
