/** What a content set is made from: words written by hand, from which items are put together. */

export interface Vocabulary {
  readonly instance: { readonly name: string; readonly subdomain: string };
  readonly types: readonly TypeWords[];
  readonly people: readonly PersonWords[];
  /** For more people than `people` has. */
  readonly firstNames: readonly string[];
  readonly lastNames: readonly string[];
  readonly groups: readonly string[];
  readonly campaigns: readonly CampaignWords[];
  readonly destinations: readonly DestinationWords[];
  readonly fields: readonly FieldWords[];
  readonly topics: readonly Topic[];
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
  readonly format?: { readonly name: string; readonly extensions: readonly string[] };
}

export interface PersonWords {
  readonly name: string;
  readonly role: string;
  readonly tz: string;
  readonly bio: string;
  /** Left the team. */
  readonly removed?: true;
}

export interface CampaignWords {
  readonly name: string;
  /** `YYYY-MM-DD`. */
  readonly from: string;
  readonly to: string | null;
  /** Names of the topics it is about; empty: any. */
  readonly topics: readonly string[];
}

export interface DestinationWords {
  readonly name: string;
  readonly platform: string;
  readonly mappings: boolean;
}

export interface Place {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly tz: string;
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
  readonly mappings?: readonly MappingWords[];
  /** `key` of the content types that carry it; missing: all. */
  readonly types?: readonly string[];
  readonly options?: Readonly<Record<string, boolean>>;
  readonly default?: string;
  readonly instructions?: string;
  /** Shown in previews and the gallery. */
  readonly preview?: true;
}

export interface ValueWords {
  readonly display: string;
  /** Missing: as `display`. */
  readonly value?: string;
  readonly archived?: true;
}

export interface MappingWords {
  /** Name of a destination; a name that is none gives a mapping to an ID that is not in the set. */
  readonly to: string;
  /** External field name. */
  readonly as: string;
  /** Display of a select value to its external value; a list gives several entries for one value. */
  readonly values?: Readonly<Record<string, string | readonly string[]>>;
}

/**
 * One subject that the team writes about. Texts may hold slots: `{product}`, `{product2}`, `{place}`, `{season}`,
 * `{angle}`, `{n}`.
 */
export interface Topic {
  readonly name: string;
  readonly weight: number;
  readonly category: string;
  readonly tags: readonly string[];
  readonly products: readonly string[];
  /** Short noun phrases for titles: "pitching in the wind". */
  readonly angles: readonly string[];
  /** Titles of articles. */
  readonly titles: readonly string[];
  /** Sentences: how a text begins, goes on, ends. */
  readonly open: readonly string[];
  readonly detail: readonly string[];
  readonly close: readonly string[];
  /** Field name to the displays that fit the topic. */
  readonly prefers: Readonly<Record<string, readonly string[]>>;
}
