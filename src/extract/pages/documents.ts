/** What the documents of an answer give: items and rejects, raw documents, and views on their way into the tables. */
import { mayHoldHalves } from "./decode.ts";
import { type Page, type PlacedObject, readItem, readList, type SentDocument } from "./envelope.ts";
import { RecurringObjects } from "./object-cache.ts";
import { tooDeep } from "../http/source-error.ts";
import { type DocumentOptions, documentPreparer, itemId, type Prepare } from "../../raw/prepare.ts";
import { Drift } from "../../raw/drift.ts";
import { isObject, type JsonObject, type Shape, type View } from "../../raw/document.ts";
import { mendHalves } from "../../raw/well-formed.ts";
import { keptText } from "../../raw/raw-json.ts";
import type { ViewedItem } from "../../run/pairing.ts";
import { type PreparedObject, PreparedObjects } from "./prepared-objects.ts";
import type { RawDocument } from "../../raw/raw-file.ts";
import type { ItemResult, ItemTask, ListedItem, PageTask, Reject } from "../../run/tasks.ts";

/** Places on a page, and pages in a sweep, that the order of observation tells apart. */
const PLACES = 100_000;
const PAGES = 10_000_000;

/** Position in the order of observation. Single-item answers come after all pages of their sweep. */
function observation(at: { sweep: number; page: number; position: number; single: boolean }): number {
  return ((at.sweep * 2 + Number(at.single)) * PAGES + at.page) * PLACES + at.position;
}

/** What an item's document gave. */
interface KeptView {
  readonly view: View;
  readonly kept: Omit<RawDocument, keyof RawPlace>;
}

/** What the documents of a page gave. */
interface ReadDocuments {
  readonly items: ListedItem[];
  readonly rejects: Reject[];
  readonly raw: RawDocument[];
  readonly viewed: ViewedItem[];
  readonly drift: Drift;
}

/** What a single-item answer gave. */
interface ReadItem extends ItemResult {
  /** None where it is a reject. */
  readonly raw: readonly RawDocument[];
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
    const read: ReadDocuments = { items: [], rejects: [], raw: [], viewed: [], drift: new Drift() };
    const { items, rejects, raw, viewed, drift } = read;
    const held = new HeldObjects();
    let position = (task.offset ?? 0) - 1;
    for (const sent of documents) {
      position += 1;
      const objects = this.#prepared(task, sent);
      const parsed = objects === undefined ? sent.whole() : sent.document;
      const document = sent.halves
        ? mended(parsed, observation({ ...task, position, single: false }), drift)
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
        const { view, kept } = this.#listedView(task, listed, drift);
        held.add(listed.objects);
        raw.push({ ...placeOf(task, listed), whole: true, ...kept });
        if (task.pairWith !== undefined) viewed.push({ contentId: found.id, view });
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

  #listedView(task: PageTask, listed: Listed, drift: Drift): KeptView {
    const { sweep, page, body } = task;
    const order = observation({ sweep, page, position: listed.position, single: false });
    const at = { order, contentId: listed.id, observedAt: body.observedAt };
    return this.#view(shapeOf(task), listed, at, drift);
  }

  #view(
    shape: Shape,
    { document, objects, largeNumbers, text }: Sent,
    at: { order: number; contentId: string; observedAt: number },
    drift: Drift,
  ): KeptView {
    const { order, contentId, observedAt } = at;
    const { unknown, changed } = this.#prepare(shape, document, { order, contentId }, drift);
    const made = new Map<string, Buffer>();
    for (const { placed, prepared } of objects) {
      put(document, placed, prepared.value);
      if (placed.place === undefined) made.set(placed.name, prepared.member);
    }
    const kept = {
      view: { shape, order, observedAt },
      unknownFields: unknown.length,
      largeNumbers,
      document: keptText(document, text, changed, made),
    };
    return { view: { shape, document, observedAt, order, unknown }, kept };
  }

  #reject(task: PageTask, rejected: Rejected, drift: Drift): Reject {
    const { mode, sweep, page } = task;
    const { position, document, reason } = rejected;
    const order = observation({ sweep, page, position, single: false });
    const shape = shapeOf(task);
    // The policy holds for what is no object too, and may take it away altogether.
    const holder: JsonObject = { document };
    const at = { order, contentId: null };
    this.#prepare(shape, isObject(document) ? document : holder, at, drift);
    const kept = JSON.stringify(holder.document) ?? "null";
    return { mode, sweep, page, position, contentId: null, reason, document: kept };
  }

  #readItem(task: ItemTask, text: string, drift: Drift): ReadItem {
    const { sweep, page, position, contentId, whole } = task;
    const order = observation({ sweep, page, position, single: true });
    const sent = readItem(text);
    const document = mayHoldHalves(text) ? mended(sent, order, drift) : sent;
    const found = itemId(document);
    if ("reason" in found || found.id !== contentId || !isObject(document)) {
      const reason =
        "reason" in found ? found.reason : "the answer is of another item than the one asked for";
      if (isObject(document)) this.#prepare(task.shape, document, { order, contentId }, drift);
      const kept = JSON.stringify(document) ?? "null";
      const reject = { mode: "item", sweep, page, position, contentId, reason, document: kept };
      return { updatedAt: undefined, rejects: [reject], raw: [] };
    }
    const { updatedAt } = listedItem(contentId, position, document);
    const at = { order, contentId, observedAt: task.body.observedAt };
    const parsed = { document, objects: [], largeNumbers: true, text: undefined };
    const { kept } = this.#view(task.shape, parsed, at, drift);
    const raw = [{ contentId, mode: "item", sweep, page, position, whole, ...kept } as const];
    return { updatedAt, rejects: [], raw };
  }
}

type RawPlace = Pick<RawDocument, "contentId" | "mode" | "sweep" | "page" | "position" | "whole">;

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
  return { contentId: id, mode: shapeOf(task), sweep: task.sweep, page: task.page, position };
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
function mended(document: unknown, order: number, drift: Drift): unknown {
  return mendHalves(document, (path) => drift.note(path, "unreadable", order, null));
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
