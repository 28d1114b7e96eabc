/** Prepares cached objects for the raw documents, once for each member that they stand in. */
import { deeplyFrozen, isObject, type JsonObject, type Shape } from "../../raw/document.ts";
import { Drift, type DriftEntry } from "../../raw/drift.ts";
import type { DocumentPreparer } from "../../raw/prepare.ts";
import type { ObjectPosition } from "./list-page.ts";
import type { CachedObject } from "./object-cache.ts";

export interface PreparedObject {
  /** Frozen: all documents that hold the object share it. */
  readonly value: JsonObject;
  /** The member with this value, as `JSON.stringify` writes it, in UTF-8. */
  readonly member: Buffer;
  /** Drift to count for each document that holds the object. */
  readonly drift: readonly DriftEntry[];
}

/** The member that an object was prepared in. */
interface PreparedIn {
  readonly shape: Shape;
  readonly name: string;
  readonly isListed: boolean;
}

/** Position of the document that an object is prepared in. Drift with this ID belongs to an item, not to the object. */
const SOME_DOCUMENT = { order: 1, contentId: "some document" };
/** 4 MB: texts of all prepared objects. */
const MAX_BYTES = 4 * 1024 * 1024;

export class PreparedObjects {
  readonly #prepare: DocumentPreparer;
  /** Names of renamed members, before and after. */
  readonly #aliases: ReadonlySet<string>;
  /** An object stands in few members. */
  readonly #prepared = new WeakMap<CachedObject, (PreparedObject & PreparedIn)[]>();
  #bytes = 0;

  constructor(prepare: DocumentPreparer, aliases: Readonly<Record<string, string>>) {
    this.#prepare = prepare;
    this.#aliases = new Set(Object.entries(aliases).flat());
  }

  /** `undefined` if the object must be prepared with its document; then it is not cached any more. */
  get(shape: Shape, { name, place, object }: ObjectPosition): PreparedObject | undefined {
    if (object.refused) return undefined;
    const isListed = place !== undefined;
    const prepared = this.#prepared.get(object) ?? [];
    const known = prepared.find(
      (each) => each.name === name && each.shape === shape && each.isListed === isListed,
    );
    if (known !== undefined) return known;
    const made = this.#prepareIn(shape, name, isListed, object);
    if (made === undefined) {
      object.refused = true;
      return undefined;
    }
    this.#prepared.set(object, [...prepared, { shape, name, isListed, ...made }]);
    this.#bytes += made.member.length;
    return made;
  }

  /** Prepares a document that has only this member. */
  #prepareIn(
    shape: Shape,
    name: string,
    isListed: boolean,
    object: CachedObject,
  ): PreparedObject | undefined {
    if (this.#aliases.has(name) || this.#bytes > MAX_BYTES) return undefined;
    const parsed: unknown = JSON.parse(object.bytes.toString());
    const document: JsonObject = { [name]: isListed ? [parsed] : parsed };
    const drift = new Drift();
    this.#prepare(shape, document, SOME_DOCUMENT, drift);
    const member = document[name];
    const value = Array.isArray(member) ? member[0] : member;
    const entries = drift.take();
    if (!isObject(value) || entries.some(({ contentId }) => contentId !== null)) return undefined;
    const text = Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return { value: deeplyFrozen(value), member: text, drift: entries };
  }
}
