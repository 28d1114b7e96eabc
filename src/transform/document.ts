/** A document on its way in: aliases, the personal-data policy, and what the contract does not know. */
import { dynamicItem } from "../api/dynamic.ts";
import { fullItem } from "../api/full.ts";
import { unknownFieldWalker } from "../api/unknown.ts";
import { DATA_TABLES } from "../tables/all.ts";
import type { Drift } from "./drift.ts";
import { type PolicyOptions, personalPolicy, unknownPolicy } from "./personal.ts";
import { isObject, type JsonObject, type Shape, type UnknownField, unknownFields } from "./views.ts";

const WALKERS = { dynamic: unknownFieldWalker(dynamicItem), full: unknownFieldWalker(fullItem) } as const;

export interface DocumentOptions extends PolicyOptions {
  /** Wire name to the specification's name, for top-level fields that an instance spells otherwise. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface Prepared {
  readonly document: JsonObject;
  readonly unknown: UnknownField[];
}

/** Prepares one document in place. `position` is its place in the order of observation. */
export type Prepare = (shape: Shape, document: JsonObject, position: Position, drift: Drift) => Prepared;

export interface Position {
  readonly order: number;
  readonly contentId: string | null;
}

export function documentPreparer(options: DocumentOptions): Prepare {
  const applyPolicy = personalPolicy(DATA_TABLES, options);
  const treatUnknown = unknownPolicy(options);
  const aliases = Object.entries(options.aliases);
  const treated = options.policy === "hash" ? "personal_hashed" : "personal_dropped";
  return (shape, document, { order, contentId }, drift) => {
    rename(document, aliases);
    applyPolicy(shape, document, drift);
    const unknown = fieldsUnknown(shape, document).filter((field) => {
      const key = field.path.at(-1) ?? "";
      const path = field.path.join(".").replaceAll(".[]", "[]");
      if (!treatUnknown(field.parent, key)) {
        drift.note(path, "unknown_field", order, contentId, field.value);
        return true;
      }
      drift.note(path, treated, order, contentId);
      return false;
    });
    return { document, unknown };
  };
}

function rename(document: JsonObject, aliases: readonly [string, string][]): void {
  for (const [wireName, name] of aliases) {
    if (!Object.hasOwn(document, wireName) || Object.hasOwn(document, name)) continue;
    document[name] = document[wireName];
    delete document[wireName];
  }
}

/** Fields of a document that the contract does not know. */
export function fieldsUnknown(shape: Shape, document: JsonObject): UnknownField[] {
  return unknownFields(WALKERS[shape], document);
}

/**
 * The ID of a listed item: a text that is not empty and has no white space at its ends. Otherwise the reason why the
 * document is rejected.
 */
export function itemId(document: unknown): { id: string } | { reason: string } {
  if (!isObject(document)) return { reason: "the listed item is not an object" };
  const { id } = document;
  if (id === undefined || id === null) return { reason: "the item has no id" };
  if (typeof id !== "string") return { reason: `the item's id is a ${typeof id}, not a text` };
  if (id === "" || id.trim() !== id) return { reason: "the item's id is empty or has white space at its ends" };
  return { id };
}
