/** What becomes of objects that recur on their way into the tables and raw documents: found out once, for each place. */
import type { PlacedObject } from "../extract/envelope.ts";
import type { RecurringObject } from "../extract/recurring.ts";
import type { Prepare } from "../transform/document.ts";
import { Drift, type DriftEntry } from "../transform/drift.ts";
import { isObject, type JsonObject, type Shape } from "../transform/views.ts";

/** An object as it is in a prepared document. */
export interface PreparedObject {
  /** Shared by all documents that hold it: it cannot be changed. */
  readonly value: JsonObject;
  /** Text of the member of which it is the value, in UTF-8, as `JSON.stringify` writes it. */
  readonly member: Buffer;
  /** What is counted in each document that holds it. */
  readonly drift: readonly DriftEntry[];
}

/** Stands for the document that is prepared: what is noted of it, and not of any, is so noted of this one. */
const SOME_DOCUMENT = { order: 1, contentId: "" };

type Known = WeakMap<RecurringObject, PreparedObject | null>;

export class PreparedObjects {
  readonly #prepare: Prepare;
  /** By shape, by name of the member, for values of members and for those in lists. */
  readonly #known = {
    dynamic: { member: new Map<string, Known>(), list: new Map<string, Known>() },
    full: { member: new Map<string, Known>(), list: new Map<string, Known>() },
  };

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  /** Undefined where the object is to be prepared as a part of its document. */
  of(shape: Shape, placed: PlacedObject): PreparedObject | undefined {
    const names = this.#known[shape][placed.place === undefined ? "member" : "list"];
    let known = names.get(placed.name);
    if (known === undefined) {
      known = new WeakMap();
      names.set(placed.name, known);
    }
    let prepared = known.get(placed.object);
    if (prepared === undefined) {
      prepared = this.#prepared(shape, placed) ?? null;
      known.set(placed.object, prepared);
    }
    return prepared ?? undefined;
  }

  /** As in a document of this member alone. What is noted there of the document is not the object's, but an item's. */
  #prepared(shape: Shape, { name, place, object }: PlacedObject): PreparedObject | undefined {
    const sent: unknown = JSON.parse(object.bytes.toString());
    const document: JsonObject = { [name]: place === undefined ? sent : [sent] };
    const drift = new Drift();
    this.#prepare(shape, document, SOME_DOCUMENT, drift);
    const member = document[name];
    const value = Array.isArray(member) ? member[0] : member;
    const entries = drift.take();
    if (!isObject(value) || entries.some(({ contentId }) => contentId !== null)) return undefined;
    frozen(value);
    const text = Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return { value, member: text, drift: entries };
  }
}

/** No deeper than `JSON.stringify` goes, which every object has been through. */
function frozen(value: object): void {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) frozen(inner);
  Object.freeze(value);
}
