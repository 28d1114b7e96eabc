/** What becomes of objects that recur on their way into the tables and raw documents: found out once, for each place. */

import { deeplyFrozen, isObject, type JsonObject, type Shape } from "../../raw/document.ts";
import { Drift, type DriftEntry } from "../../raw/drift.ts";
import type { DocumentPreparer } from "../../raw/prepare.ts";
import type { ObjectPosition } from "./list-page.ts";
import type { CachedObject } from "./object-cache.ts";

export interface PreparedObject {
  /** Shared by all documents that hold it: it cannot be changed. */
  readonly value: JsonObject;
  /** Text of the member of which it is the value, in UTF-8, as `JSON.stringify` writes it. */
  readonly member: Buffer;
  /** What is counted in each document that holds it. */
  readonly drift: readonly DriftEntry[];
}

interface PreparedPlace extends PreparedObject {
  readonly shape: Shape;
  readonly name: string;
  readonly listed: boolean;
}

/** Stands for the document that is prepared: what is noted of it has this ID, what is only counted has none. */
const SOME_DOCUMENT = { order: 1, contentId: "some document" };
/** 4 MB: texts of all that is prepared. */
const PREPARED_BYTES = 4 * 1024 * 1024;

export class PreparedObjects {
  readonly #prepare: DocumentPreparer;
  /** Names that members have before or after they were given the specification's. */
  readonly #aliases: ReadonlySet<string>;
  /** An object stands in a few places. */
  readonly #places = new WeakMap<CachedObject, PreparedPlace[]>();
  #bytes = 0;

  constructor(prepare: DocumentPreparer, aliases: Readonly<Record<string, string>>) {
    this.#prepare = prepare;
    this.#aliases = new Set(Object.entries(aliases).flat());
  }

  /** Undefined where the object is to be prepared as a part of its document; then it is refused, wherever it stands. */
  of(shape: Shape, { name, place, object }: ObjectPosition): PreparedObject | undefined {
    if (object.refused) return undefined;
    const listed = place !== undefined;
    const places = this.#places.get(object) ?? [];
    const known = places.find((at) => at.name === name && at.shape === shape && at.listed === listed);
    if (known !== undefined) return known;
    const prepared = this.#prepared(shape, name, listed, object);
    if (prepared === undefined) {
      object.refused = true;
      return undefined;
    }
    this.#places.set(object, [...places, { shape, name, listed, ...prepared }]);
    this.#bytes += prepared.member.length;
    return prepared;
  }

  /** As in a document of this member alone. What is noted there of the document is not the object's, but an item's. */
  #prepared(shape: Shape, name: string, listed: boolean, object: CachedObject): PreparedObject | undefined {
    if (this.#aliases.has(name) || this.#bytes > PREPARED_BYTES) return undefined;
    const sent: unknown = JSON.parse(object.bytes.toString());
    const document: JsonObject = { [name]: listed ? [sent] : sent };
    const drift = new Drift();
    this.#prepare(shape, document, SOME_DOCUMENT, drift);
    const member = document[name];
    const value = Array.isArray(member) ? member[0] : member;
    const entries = drift.take();
    if (!isObject(value) || entries.some(ofTheDocument)) return undefined;
    const text = Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return { value: deeplyFrozen(value), member: text, drift: entries };
  }
}

function ofTheDocument({ contentId }: DriftEntry): boolean {
  return contentId !== null;
}
