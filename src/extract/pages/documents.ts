/** What the documents of an answer give: items, rejects and raw documents. */

import { mayHoldHalves } from "../../common/json.ts";
import { isObject, type JsonObject, type Shape } from "../../raw/document.ts";
import { Drift } from "../../raw/drift.ts";
import { type DocumentOptions, documentPreparer, itemId, type Prepare } from "../../raw/prepare.ts";
import type { RawDocument } from "../../raw/raw-file.ts";
import { rawJson } from "../../raw/raw-json.ts";
import { replaceLoneSurrogates } from "../../raw/well-formed.ts";
import { tooDeep } from "../http/source-error.ts";
import type { ListedItem, Reject } from "../landing/checkpoint-form.ts";
import type { ItemResult, ItemTask, PageTask } from "../landing/tasks.ts";
import { type Page, type PlacedObject, readItem, readList, type SentDocument } from "./envelope.ts";
import { RecurringObjects } from "./object-cache.ts";
import { type PreparedObject, PreparedObjects } from "./prepared-objects.ts";

/** Places on a page, and pages in a pass, that the order of observation tells apart. */
const PLACES = 100_000;
const PAGES = 10_000_000;

/** Position in the order of observation. Single-item answers come after all pages of their pass. */
function observation(at: { pass: number; page: number; position: number; single: boolean }): number {
  return ((at.pass * 2 + Number(at.single)) * PAGES + at.page) * PLACES + at.position;
}

/** A raw document without its place. */
type Kept = Omit<RawDocument, keyof RawPlace>;

/** What the documents of a page gave. */
interface ReadDocuments {
  readonly items: ListedItem[];
  readonly rejects: Reject[];
  readonly raw: RawDocument[];
  /** Names of the custom fields that the documents carry. */
  readonly fieldNames: Set<string>;
  readonly drift: Drift;
}

/** What a single-item answer gave. */
interface ReadItem extends ItemResult {
  /** None where it is a reject. */
  readonly raw: readonly RawDocument[];
  readonly fieldNames: ReadonlySet<string>;
}

export class DocumentReader {
  readonly #prepare: Prepare;
  readonly #objects: PreparedObjects;
  /** What the documents of pages come without. */
  readonly #recurring = new RecurringObjects();

  constructor(options: DocumentOptions) {
    this.#prepare = documentPreparer(options);
    this.#objects = new PreparedObjects(this.#prepare, options.aliases);
  }

  /** A page of a listing; its documents are for this reader alone. Errors: those of {@link readList}. */
  list(bytes: Buffer): Page {
    return readList(bytes, this.#recurring);
  }

  page(task: PageTask, documents: Iterable<SentDocument>): ReadDocuments {
    return readable(() => this.#readDocuments(task, documents));
  }

  /** A document of another item is a reject. What departs from the specification is noted in `drift`. */
  item(task: ItemTask, text: string, drift: Drift): ReadItem {
    return readable(() => this.#readItem(task, text, drift));
  }

  #readDocuments(task: PageTask, documents: Iterable<SentDocument>): ReadDocuments {
    const read: ReadDocuments = {
      items: [],
      rejects: [],
      raw: [],
      fieldNames: new Set(),
      drift: new Drift(),
    };
    const { items, rejects, raw, fieldNames, drift } = read;
    const held = new HeldObjects();
    let position = (task.offset ?? 0) - 1;
    for (const sent of documents) {
      position += 1;
      const objects = this.#prepared(task, sent);
      const parsed = objects === undefined ? sent.whole() : sent.document;
      const document = sent.halves
        ? wellFormed(parsed, observation({ ...task, position, single: false }), drift)
        : parsed;
      const found = itemId(document);
      if ("reason" in found || !isObject(document)) {
        const reason = "reason" in found ? found.reason : "";
        rejects.push(this.#reject(task, { position, document, reason }, drift));
        continue;
      }
      // First the document, which gives fields the names of the specification.
      if (task.lands) {
        const listed = { ...sent, document, objects: objects ?? [], id: found.id, position };
        const kept = this.#listed(task, listed, drift);
        held.add(listed.objects);
        raw.push({ ...placeOf(task, listed), whole: true, ...kept });
        addFieldNames(fieldNames, shapeOf(task), document);
      }
      items.push(listedItem(found.id, position, document));
    }
    held.countIn(drift);
    return read;
  }

  /** The known objects that a document holds. Undefined: it is to be read with all that it holds. */
  #prepared(task: PageTask, { document, recurring }: SentDocument): PlacedAndPrepared[] | undefined {
    const objects: PlacedAndPrepared[] = [];
    if (recurring.length > 0 && "reason" in itemId(document)) return undefined;
    for (const placed of recurring) {
      const prepared = this.#objects.of(shapeOf(task), placed);
      if (prepared === undefined) return undefined;
      objects.push({ placed, prepared });
    }
    return objects;
  }

  #listed(task: PageTask, listed: Listed, drift: Drift): Kept {
    const { pass, page, body } = task;
    const order = observation({ pass, page, position: listed.position, single: false });
    const at = { order, contentId: listed.id, observedAt: body.observedAt };
    return this.#kept(shapeOf(task), listed, at, drift);
  }

  #kept(
    shape: Shape,
    { document, objects, largeNumbers, text }: Sent,
    at: { order: number; contentId: string; observedAt: number },
    drift: Drift,
  ): Kept {
    const { order, contentId, observedAt } = at;
    const { unknown, changed } = this.#prepare(shape, document, { order, contentId }, drift);
    const made = new Map<string, Buffer>();
    for (const { placed, prepared } of objects) {
      put(document, placed, prepared.value);
      if (placed.place === undefined) made.set(placed.name, prepared.member);
    }
    return {
      view: { shape, order, observedAt },
      unknownFields: unknown.length,
      largeNumbers,
      document: rawJson(document, text, changed, made),
    };
  }

  #reject(task: PageTask, rejected: Rejected, drift: Drift): Reject {
    const { mode, pass, page } = task;
    const { position, document, reason } = rejected;
    const order = observation({ pass, page, position, single: false });
    const shape = shapeOf(task);
    // The policy holds for what is no object too, and may take it away altogether.
    const holder: JsonObject = { document };
    const at = { order, contentId: null };
    this.#prepare(shape, isObject(document) ? document : holder, at, drift);
    const kept = JSON.stringify(holder.document) ?? "null";
    return { mode, pass, page, position, contentId: null, reason, document: kept };
  }

  #readItem(task: ItemTask, text: string, drift: Drift): ReadItem {
    const { pass, page, position, contentId, whole } = task;
    const order = observation({ pass, page, position, single: true });
    const sent = readItem(text);
    const document = mayHoldHalves(text) ? wellFormed(sent, order, drift) : sent;
    const found = itemId(document);
    if ("reason" in found || found.id !== contentId || !isObject(document)) {
      const reason =
        "reason" in found ? found.reason : "the answer is of another item than the one asked for";
      if (isObject(document)) this.#prepare(task.shape, document, { order, contentId }, drift);
      const kept = JSON.stringify(document) ?? "null";
      const reject = { mode: "item", pass, page, position, contentId, reason, document: kept };
      return { updatedAt: undefined, rejects: [reject], raw: [], fieldNames: new Set() };
    }
    const { updatedAt } = listedItem(contentId, position, document);
    const at = { order, contentId, observedAt: task.body.observedAt };
    const parsed = { document, objects: [], largeNumbers: true, text: undefined };
    const kept = this.#kept(task.shape, parsed, at, drift);
    const raw = [{ contentId, mode: "item", pass, page, position, whole, ...kept } as const];
    const fieldNames = new Set<string>();
    addFieldNames(fieldNames, task.shape, document);
    return { updatedAt, rejects: [], raw, fieldNames };
  }
}

type RawPlace = Pick<RawDocument, "contentId" | "mode" | "pass" | "page" | "position" | "whole">;

interface PlacedAndPrepared {
  readonly placed: PlacedObject;
  readonly prepared: PreparedObject;
}

/** A document that is an item's. */
interface Sent extends Pick<SentDocument, "largeNumbers" | "text"> {
  readonly document: JsonObject;
  /** Those that are still to be put into it. */
  readonly objects: readonly PlacedAndPrepared[];
}

interface Listed extends Sent {
  readonly id: string;
  readonly position: number;
}

/** Puts an object where an empty one stands for it. */
function put(document: JsonObject, { name, place }: PlacedObject, value: JsonObject): void {
  const member = document[name];
  if (place === undefined) document[name] = value;
  else if (Array.isArray(member)) member[place] = value;
}

/** How many documents of a page hold an object: what is counted of it is counted once for all. */
class HeldObjects {
  readonly #counts = new Map<PreparedObject, number>();

  add(objects: readonly PlacedAndPrepared[]): void {
    for (const { prepared } of objects) this.#counts.set(prepared, (this.#counts.get(prepared) ?? 0) + 1);
  }

  countIn(drift: Drift): void {
    for (const [{ drift: entries }, count] of this.#counts)
      for (const entry of entries) drift.add({ ...entry, count: entry.count * count });
  }
}

function shapeOf({ mode }: PageTask): Shape {
  return mode === "dynamic" ? "dynamic" : "full";
}

function placeOf(task: PageTask, { id, position }: Listed): Omit<RawPlace, "whole"> {
  return { contentId: id, mode: shapeOf(task), pass: task.pass, page: task.page, position };
}

/** Where documents describe the custom fields of which they have values. */
const DESCRIBED_FIELDS: Readonly<Record<Shape, string>> = {
  dynamic: "custom_fields_details",
  full: "custom_fields",
};

function addFieldNames(names: Set<string>, shape: Shape, document: JsonObject): void {
  const described = document[DESCRIBED_FIELDS[shape]];
  if (!Array.isArray(described)) return;
  for (const field of described)
    if (isObject(field) && typeof field.id === "string" && typeof field.name === "string")
      names.add(field.name);
}

/** What the service nested more deeply than it can be read is its fault. */
function readable<Read>(read: () => Read): Read {
  try {
    return read();
  } catch (thrown) {
    throw thrown instanceof RangeError ? tooDeep() : thrown;
  }
}

interface Rejected {
  readonly position: number;
  readonly document: unknown;
  readonly reason: string;
}

/** The document without halves of characters. */
function wellFormed(document: unknown, order: number, drift: Drift): unknown {
  return replaceLoneSurrogates(document, (path) => drift.note(path, "unreadable", order, null));
}

function listedItem(id: string, position: number, document: JsonObject): ListedItem {
  const updatedAt = document.updated_at;
  return {
    id,
    position,
    updatedAt: typeof updatedAt === "string" ? updatedAt.slice(0, 19) : null,
    event: document.body_type === "event",
  };
}
