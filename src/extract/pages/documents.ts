/** What the documents of an answer give: items, rejects and raw documents. */

import { mayHoldHalves } from "../../common/json.ts";
import { isObject, type JsonObject, type Shape } from "../../raw/document.ts";
import { Drift, type DriftEntry } from "../../raw/drift.ts";
import { fingerprintOf, matchesFingerprint, NO_FINGERPRINT } from "../../raw/fingerprint.ts";
import { truncateToSecond } from "../../raw/instant.ts";
import {
  type DocumentPosition,
  type DocumentPreparer,
  documentPreparer,
  type PrepareSettings,
  readItemId,
} from "../../raw/prepare.ts";
import { NOT_REUSED, type RawDocument, RawFileReader } from "../../raw/raw-file.ts";
import { serializeDocument } from "../../raw/raw-json.ts";
import { copyReusable, reuseRecord } from "../../raw/reusable.ts";
import { replaceLoneSurrogates } from "../../raw/well-formed.ts";
import { readItem } from "../http/json-body.ts";
import { tooDeep } from "../http/source-error.ts";
import { type ListPage, type ObjectPosition, type PageDocument, readList } from "./list-page.ts";
import { ObjectCache } from "./object-cache.ts";
import { type PreparedObject, PreparedObjects } from "./prepared-objects.ts";
import {
  type CopyTask,
  type ItemTask,
  isInScope,
  type ListEntry,
  type PageTask,
  type Reject,
  type SingleItemScope,
} from "./tasks.ts";
import { FRESH_MS, isFresh, secondsOf } from "./updated-at.ts";

/** Places on a page, and pages in a pass, that the order of observation tells apart. */
const PLACES = 100_000;
const PAGES = 10_000_000;

/** Position in the order of observation. Single-item answers come after all pages of their pass. */
function observation(
  { kind, pass, page }: Pick<PageTask | ItemTask, "pass" | "page"> & { readonly kind: string },
  position: number,
): number {
  return ((pass * 2 + Number(kind !== "page")) * PAGES + page) * PLACES + position;
}

export interface DocumentBatch {
  readonly items: ListEntry[];
  readonly rejects: readonly Reject[];
  readonly raw: readonly RawDocument[];
  /** Names of the custom fields that the documents carry. */
  readonly fieldNames: ReadonlySet<string>;
  /** What departs from the specification. */
  readonly drift: Drift;
}

/** An answer for one item, without the token; what is said of where it stood. */
export interface SentItem {
  readonly text: string;
  readonly echoes: readonly DriftEntry[];
}

/** A raw document without what is found in it. */
type RawPlace = Omit<RawDocument, "unknownFields" | "largeNumbers" | "reuse" | "document">;

interface PlacedAndPrepared {
  readonly placed: ObjectPosition;
  readonly prepared: PreparedObject;
}

interface Sent extends Pick<PageDocument, "largeNumbers" | "text"> {
  readonly document: JsonObject;
  /** Those that are still to be put into it. */
  readonly objects: readonly PlacedAndPrepared[];
}

/** Which items of the dynamic listing get a fingerprint, and what is part of it besides their documents. */
export interface FingerprintSettings {
  readonly details: SingleItemScope;
  readonly settings: string;
}

const NO_FINGERPRINTS: FingerprintSettings = { details: "none", settings: "" };

export class DocumentReader {
  readonly #prepare: DocumentPreparer;
  readonly #objects: PreparedObjects;
  /** What the documents of pages come without. */
  readonly #recurring = new ObjectCache();

  readonly #fingerprintOf: (document: JsonObject, item: { readonly event: boolean }) => string;

  constructor(options: PrepareSettings, { details, settings }: FingerprintSettings = NO_FINGERPRINTS) {
    this.#fingerprintOf = (document, item) =>
      isInScope(details, item) ? fingerprintOf(document, settings) : NO_FINGERPRINT;
    this.#prepare = documentPreparer(options);
    this.#objects = new PreparedObjects(this.#prepare, options.aliases);
  }

  /** A page of a listing; its documents are for this reader alone. Errors: those of {@link readList}. */
  list(bytes: Buffer): ListPage {
    return readList(bytes, this.#recurring);
  }

  page(task: PageTask, documents: Iterable<PageDocument>): DocumentBatch {
    return readable(() => this.#readPage(task, documents));
  }

  /** A document of another item is a reject. */
  item(task: ItemTask, sent: SentItem): DocumentBatch {
    return readable(() => this.#readItem(task, sent));
  }

  /** Copies of documents of the run before, in the place of answers, each with its drift. */
  *copies(
    task: CopyTask,
  ): Generator<{ readonly raw: RawDocument; readonly drift: Drift; readonly unit: number }> {
    const { pass, rawFile, run, items } = task;
    using rows = new RawFileReader(rawFile);
    for (const { row, unit, ...place } of items) {
      const order = observation({ ...task, page: place.page }, place.position);
      const drift = new Drift();
      yield { raw: copyReusable(rows, { row, run }, { ...place, pass, order }, drift), drift, unit };
    }
  }

  #readPage(task: PageTask, documents: Iterable<PageDocument>): DocumentBatch {
    const { mode, pass, page, lands } = task;
    const { observedAt } = task.body;
    const shape = mode === "dynamic" ? "dynamic" : "full";
    const items: ListEntry[] = [];
    const rejects: Reject[] = [];
    const raw: RawDocument[] = [];
    const fieldNames = new Set<string>();
    const drift = new Drift();
    /** How many documents hold an object: what is counted of it is counted once for all. */
    const held = new Map<PreparedObject, number>();
    let position = (task.offset ?? 0) - 1;
    for (const sent of documents) {
      position += 1;
      const order = observation(task, position);
      const objects = this.#prepared(shape, sent);
      const parsed = objects === undefined ? sent.whole() : sent.document;
      const document = sent.halves ? wellFormed(parsed, order, drift) : parsed;
      const found = readItemId(document);
      if ("reason" in found || !isObject(document)) {
        const reason = "reason" in found ? found.reason : "";
        const text = this.#rejected(shape, document, { order, contentId: null }, drift);
        rejects.push({ mode, pass, page, position, contentId: null, reason, document: text });
        continue;
      }
      const { id: contentId } = found;
      // First the document, which gives fields the names of the specification.
      if (lands) {
        const view = { shape, order, observedAt } as const;
        const { largeNumbers, text } = sent;
        const listed = { document, objects: objects ?? [], largeNumbers, text };
        const place = { contentId, mode: shape, pass, page, position, whole: true, view } as const;
        for (const { prepared } of listed.objects) held.set(prepared, (held.get(prepared) ?? 0) + 1);
        raw.push(this.#raw(place, listed, drift));
        addFieldNames(fieldNames, shape, document);
      }
      const item = listedItem(contentId, position, document);
      const isPrinted = lands && shape === "dynamic" && task.body.dated;
      items.push(isPrinted ? { ...item, fingerprint: this.#fingerprintOf(document, item) } : item);
    }
    for (const [prepared, count] of held)
      for (const entry of prepared.drift) drift.add({ ...entry, count: entry.count * count });
    return { items, rejects, raw, fieldNames, drift };
  }

  /** The known objects that a document holds. Undefined: it is to be read with all that it holds. */
  #prepared(shape: Shape, { document, recurring }: PageDocument): PlacedAndPrepared[] | undefined {
    const objects: PlacedAndPrepared[] = [];
    if (recurring.length > 0 && "reason" in readItemId(document)) return undefined;
    for (const placed of recurring) {
      const prepared = this.#objects.of(shape, placed);
      if (prepared === undefined) return undefined;
      objects.push({ placed, prepared });
    }
    return objects;
  }

  #raw(place: RawPlace, { document, objects, largeNumbers, text }: Sent, drift: Drift): RawDocument {
    const { contentId, view } = place;
    const at = { order: view.order, contentId };
    const { unknown, changed } = this.#prepare(view.shape, document, at, drift, text);
    const made = new Map<string, Buffer>();
    for (const { placed, prepared } of objects) {
      put(document, placed, prepared.value);
      if (placed.place === undefined) made.set(placed.name, prepared.member);
    }
    const pieces = serializeDocument(document, text, changed, made);
    return { ...place, unknownFields: unknown.length, largeNumbers, reuse: NOT_REUSED, document: pieces };
  }

  /** The text of what is no item. The policy holds for what is no object too, and may take it away altogether. */
  #rejected(shape: Shape, document: unknown, at: DocumentPosition, drift: Drift): string {
    const holder: JsonObject = { document };
    this.#prepare(shape, isObject(document) ? document : holder, at, drift);
    return JSON.stringify(holder.document) ?? "null";
  }

  #readItem(task: ItemTask, { text, echoes }: SentItem): DocumentBatch {
    const { shape, pass, page, position, contentId, whole } = task;
    const order = observation(task, position);
    const drift = new Drift();
    for (const entry of echoes) drift.add(entry);
    const fieldNames = new Set<string>();
    const sent = readItem(text);
    const document = mayHoldHalves(text) ? wellFormed(sent, order, drift) : sent;
    const found = readItemId(document);
    if ("reason" in found || found.id !== contentId || !isObject(document)) {
      const other = "the answer is of another item than the one asked for";
      const reason = "reason" in found ? found.reason : other;
      const kept = this.#rejected(shape, document, { order, contentId }, drift);
      const reject = { mode: "item", pass, page, position, contentId, reason, document: kept };
      return { items: [], rejects: [reject], raw: [], fieldNames, drift };
    }
    const item = listedItem(contentId, position, document);
    const view = { shape, order, observedAt: task.body.observedAt };
    const place = { contentId, mode: "item", pass, page, position, whole, view } as const;
    const parsed = { document, objects: [], largeNumbers: true, text: undefined };
    const raw = this.#raw(place, parsed, drift);
    addFieldNames(fieldNames, shape, document);
    const fingerprint = isAsListed(task, item, document) ? task.listed.fingerprint : NO_FINGERPRINT;
    const reuse = reuseRecord({ document, at: { order, contentId }, drift }, fingerprint);
    return { items: [item], rejects: [], raw: [{ ...raw, reuse }], fieldNames, drift };
  }
}

/**
 * Whether the listing tells what the answer says, tonight and later: not where it was asked for in the seconds in which
 * the item was edited, where the listing is of another state, or where nobody knows when it was answered.
 */
function isAsListed({ body, listed }: ItemTask, { updatedAt }: ListEntry, document: JsonObject): boolean {
  const { dated, observedAt } = body;
  const isEdited = isFresh(secondsOf(updatedAt), { observedAt, milliseconds: FRESH_MS });
  return dated && !isEdited && matchesFingerprint(listed.fingerprint, document);
}

/** Puts an object where an empty one stands for it. */
function put(document: JsonObject, { name, place }: ObjectPosition, value: JsonObject): void {
  const member = document[name];
  if (place === undefined) document[name] = value;
  else if (Array.isArray(member)) member[place] = value;
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

/** The document without halves of characters. */
function wellFormed(document: unknown, order: number, drift: Drift): unknown {
  return replaceLoneSurrogates(document, (path) => drift.note(path, "unreadable", order, null));
}

function listedItem(id: string, position: number, document: JsonObject): ListEntry {
  const updatedAt = document.updated_at;
  return {
    id,
    position,
    updatedAt: typeof updatedAt === "string" ? truncateToSecond(updatedAt) : null,
    event: document.body_type === "event",
    fingerprint: NO_FINGERPRINT,
  };
}
