/** Turns the documents of a response into items, rejects and raw documents. */
import { z } from "zod";
import { isObject, type JsonObject, mayHaveLoneSurrogates } from "../../common/json.ts";
import type { Shape } from "../../raw/document.ts";
import { Drift, type DriftEntry } from "../../raw/drift.ts";
import {
  type DocumentPosition,
  type DocumentPreparer,
  documentPreparer,
  type PrepareSettings,
} from "../../raw/prepare.ts";
import { NO_FINGERPRINT, NOT_REUSED, type RawDocument, RawFileReader } from "../../raw/raw-file.ts";
import { serializeDocument } from "../../raw/raw-json.ts";
import { copyReusable, fingerprintOf, reuseRecord } from "../../raw/reusable.ts";
import { truncateToSecond } from "../../raw/values.ts";
import { replaceLoneSurrogates } from "../../raw/well-formed.ts";
import { misfit, readBody } from "../http/decode.ts";
import { instanceIdsOf } from "./instance-ids.ts";
import { type ObjectPosition, type PageDocument, readList } from "./list-page.ts";
import { ObjectCache, type PreparedObject, preparedObject } from "./object-cache.ts";
import {
  type CopyTask,
  type ItemTask,
  isInScope,
  type ListEntry,
  type PageResult,
  type PageTask,
  type Reject,
  type SingleItemScope,
} from "./tasks.ts";
import { FRESH_MS, isFresh, secondsOf } from "./updated-at.ts";

/** Positions on a page, and pages in a pass, that the order of observation has room for. */
const MAX_POSITIONS = 100_000;
const MAX_PAGES = 10_000_000;

/** A number that orders documents by pass, all pages of a pass before its single items, then by page and position. */
function observationOrder(
  { kind, pass, page }: Pick<PageTask | ItemTask, "pass" | "page"> & { readonly kind: string },
  position: number,
): number {
  return ((pass * 2 + Number(kind !== "page")) * MAX_PAGES + page) * MAX_POSITIONS + position;
}

interface DocumentBatch {
  readonly items: ListEntry[];
  readonly rejects: readonly Reject[];
  readonly raw: readonly RawDocument[];
  /** Names of the custom fields that the documents hold. */
  readonly fieldNames: ReadonlySet<string>;
  /** IDs of the instances that listed documents name. */
  readonly instanceIds?: ReadonlySet<string>;
  readonly drift: Drift;
}

/** Where a cached object stands in a document, and what is put there. */
interface InsertedObject extends ObjectPosition {
  readonly prepared: PreparedObject;
}

export interface ReaderConfig extends PrepareSettings {
  /** Which items get a fingerprint. */
  readonly details: SingleItemScope;
  /** Digest of the settings that decide what a single-item document becomes. */
  readonly settings: string;
}

export class DocumentReader {
  readonly #prepare: DocumentPreparer;
  readonly #cache = new ObjectCache();
  /** Of members that are renamed: the names before and after. */
  readonly #renamedNames: ReadonlySet<string>;
  readonly #config: ReaderConfig;

  constructor(config: ReaderConfig) {
    this.#config = config;
    this.#prepare = documentPreparer(config);
    this.#renamedNames = new Set(Object.entries(config.aliases).flat());
  }

  /** Copies documents of the run before, each with its drift. */
  *copies(
    task: CopyTask,
  ): Generator<{ readonly raw: RawDocument; readonly drift: Drift; readonly unit: number }> {
    const { pass, rawFile, run, items } = task;
    using rows = new RawFileReader(rawFile);
    for (const { row, unit, ...place } of items) {
      const order = observationOrder({ ...task, page: place.page }, place.position);
      const drift = new Drift();
      yield { raw: copyReusable(rows, { row, run }, { ...place, pass, order }, drift), drift, unit };
    }
  }

  /** Reads a page of a listing. `bytes`: its text in UTF-8. Throws the errors of {@link readList}. */
  page(task: PageTask, bytes: Buffer): DocumentBatch & Pick<PageResult, "pagination" | "rows"> {
    const { pagination, rows, documents } = readList(bytes, this.#cache);
    const { mode, pass, page, lands, body } = task;
    const shape = mode === "dynamic" ? "dynamic" : "full";
    const items: ListEntry[] = [];
    const rejects: Reject[] = [];
    const raw: RawDocument[] = [];
    const fieldNames = new Set<string>();
    const instanceIds = new Set<string>();
    const drift = new Drift();
    /** In how many documents an object stands: its drift is counted once, for all of them. */
    const objectCounts = new Map<PreparedObject, number>();
    let position = (task.offset ?? 0) - 1;
    for (const pageDocument of documents) {
      position += 1;
      const order = observationOrder(task, position);
      const objects = this.#prepareObjects(shape, pageDocument);
      const parsed = objects === undefined ? pageDocument.parseWhole() : pageDocument.document;
      const document = pageDocument.mayHoldLoneSurrogates ? wellFormed(parsed, order, drift) : parsed;
      const found = readItemId(document);
      if ("reason" in found || !isObject(document)) {
        const reason = "reason" in found ? found.reason : "";
        const text = this.#rejectText(shape, document, { order, contentId: null }, drift);
        rejects.push({ mode, pass, page, position, contentId: null, reason, document: text });
        continue;
      }
      const { id: contentId } = found;
      // First the raw document: preparing it renames fields to the specification's names.
      if (lands) {
        const view = { shape, order, observedAt: body.observedAt } as const;
        const at = { contentId, mode: shape, pass, page, position, whole: true, view } as const;
        for (const { prepared } of objects ?? [])
          objectCounts.set(prepared, (objectCounts.get(prepared) ?? 0) + 1);
        raw.push(this.#rawDocument(at, document, drift, { ...pageDocument, objects: objects ?? [] }));
        addFieldNames(fieldNames, shape, document);
        for (const id of instanceIdsOf(document)) instanceIds.add(id);
      }
      const item = listEntry(contentId, position, document);
      const { details, settings } = this.#config;
      const hasFingerprint = lands && shape === "dynamic" && body.dated && isInScope(details, item);
      items.push(hasFingerprint ? { ...item, fingerprint: fingerprintOf(document, settings) } : item);
    }
    for (const [prepared, count] of objectCounts)
      for (const entry of prepared.drift) drift.add({ ...entry, count: entry.count * count });
    return { pagination, rows, items, rejects, raw, fieldNames, instanceIds, drift };
  }

  /** `undefined` if the document must be parsed and prepared with all its objects. */
  #prepareObjects(shape: Shape, { document, objects }: PageDocument): InsertedObject[] | undefined {
    const inserted: InsertedObject[] = [];
    if (objects.length > 0 && "reason" in readItemId(document)) return undefined;
    for (const at of objects) {
      const member = { shape, name: at.name, isListed: at.place !== undefined };
      const isRenamed = this.#renamedNames.has(at.name);
      const prepared = isRenamed ? undefined : preparedObject(at.object, member, this.#prepare);
      if (prepared === undefined) return undefined;
      inserted.push({ ...at, prepared });
    }
    return inserted;
  }

  /** `from`: the page that has the document, with the objects to put back. */
  #rawDocument(
    place: Omit<RawDocument, "unknownFields" | "largeNumbers" | "reuse" | "document">,
    document: JsonObject,
    drift: Drift,
    from?: Pick<PageDocument, "largeNumbers" | "source"> & { readonly objects: readonly InsertedObject[] },
  ): RawDocument {
    const { contentId, view } = place;
    const { objects = [], largeNumbers = true, source } = from ?? {};
    const at = { order: view.order, contentId };
    const { unknown, changed } = this.#prepare(view.shape, document, at, drift, source);
    const members = new Map<string, Buffer>();
    for (const { name, place, prepared } of objects) {
      const member = document[name];
      if (place === undefined) {
        document[name] = prepared.value;
        members.set(name, prepared.member);
      } else if (Array.isArray(member)) member[place] = prepared.value;
    }
    const pieces = serializeDocument(document, source, changed, members);
    return { ...place, unknownFields: unknown.length, largeNumbers, reuse: NOT_REUSED, document: pieces };
  }

  /** The JSON text of a reject, after the personal-data policy, which may remove all of it. */
  #rejectText(shape: Shape, document: unknown, at: DocumentPosition, drift: Drift): string {
    const holder: JsonObject = { document };
    this.#prepare(shape, isObject(document) ? document : holder, at, drift);
    return JSON.stringify(holder.document) ?? "null";
  }

  /**
   * Reads the response for one item. A document of another item is a reject. `tokenDrift`: where the API token was
   * removed from `text`.
   */
  item(task: ItemTask, text: string, tokenDrift: readonly DriftEntry[]): DocumentBatch {
    const { shape, pass, page, position, contentId, whole, body } = task;
    const order = observationOrder(task, position);
    const at = { order, contentId };
    const drift = new Drift();
    for (const entry of tokenDrift) drift.add(entry);
    const fieldNames = new Set<string>();
    const parsed = readItem(text);
    const document = mayHaveLoneSurrogates(text) ? wellFormed(parsed, order, drift) : parsed;
    const found = readItemId(document);
    if ("reason" in found || found.id !== contentId || !isObject(document)) {
      const reason = "reason" in found ? found.reason : "the response is about another item";
      const rejected = this.#rejectText(shape, document, at, drift);
      const reject = { mode: "item", pass, page, position, contentId, reason, document: rejected };
      return { items: [], rejects: [reject], raw: [], fieldNames, drift };
    }
    const item = listEntry(contentId, position, document);
    const view = { shape, order, observedAt: body.observedAt };
    const place = { contentId, mode: "item", pass, page, position, whole, view } as const;
    const raw = this.#rawDocument(place, document, drift);
    addFieldNames(fieldNames, shape, document);
    // Not if the item was edited within seconds of the response, or if the time of that is not known.
    const isEdited = isFresh(secondsOf(item.updatedAt), { ...body, milliseconds: FRESH_MS });
    const fingerprint = body.dated && !isEdited ? task.listed.fingerprint : NO_FINGERPRINT;
    const reuse = reuseRecord(document, fingerprint, at, drift);
    return { items: [item], rejects: [], raw: [{ ...raw, reuse }], fieldNames, drift };
  }
}

const itemBody = z.looseObject({ response: z.looseObject({}) });

/** A single item, in an envelope (`{"response": {...}}`) or bare. Throws what `readList` throws. */
export function readItem(text: string): Readonly<Record<string, unknown>> {
  const body = readBody(text);
  const parsed = itemBody.safeParse(body);
  if (parsed.success) return parsed.data.response;
  if (isObject(body) && "id" in body && !("response" in body)) return body;
  throw misfit(body, "a content item", parsed.error);
}

/** Where documents describe the custom fields that they have values of. */
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

/** The ID of a listed item, a text without white space at its ends; or the reason why the document is rejected. */
function readItemId(document: unknown): { id: string } | { reason: string } {
  if (!isObject(document)) return { reason: "the listed item is not an object" };
  const { id } = document;
  if (id === undefined || id === null) return { reason: "the item has no id" };
  if (typeof id !== "string") return { reason: `the item's id is a ${typeof id}, not a text` };
  if (id === "" || id.trim() !== id)
    return { reason: "the item's id is empty or has white space at its ends" };
  return { id };
}

function wellFormed(document: unknown, order: number, drift: Drift): unknown {
  return replaceLoneSurrogates(document, (path) => drift.note(path, "unreadable", order, null));
}

function listEntry(id: string, position: number, document: JsonObject): ListEntry {
  const updatedAt = document.updated_at;
  return {
    id,
    position,
    updatedAt: typeof updatedAt === "string" ? truncateToSecond(updatedAt) : null,
    event: document.body_type === "event",
    fingerprint: NO_FINGERPRINT,
  };
}
