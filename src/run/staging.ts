/**
 * What a worker does with answers: documents in, raw files and parts out. No thread, no network and no clock here; the
 * worker around it passes messages.
 */
import { join } from "node:path";
import { type DecodeLimits, decodeBody } from "../extract/decode.ts";
import { readItem, readList } from "../extract/envelope.ts";
import { compareUtf8 } from "../load/order.ts";
import { writePart } from "../load/part.ts";
import type { Pipeline } from "../pipeline.ts";
import type { Table } from "../tables/declare.ts";
import { type Cell, TableBuilder } from "../transform/columns.ts";
import { documentPreparer, itemId, type Prepare } from "../transform/document.ts";
import { Drift } from "../transform/drift.ts";
import { compileTransform } from "../transform/item.ts";
import type { PersonalPolicy } from "../transform/personal.ts";
import { SharedPool } from "../transform/shared.ts";
import { isObject, type JsonObject, type Shape, type View } from "../transform/views.ts";
import { mayHoldHalves, mendHalves } from "../transform/well-formed.ts";
import { watchedOwnRows } from "./own-tables.ts";
import { type RawDocument, RawRows, RawViews, RawWriter } from "./raw.ts";
import type {
  CloseTask,
  DropTask,
  FlushResult,
  GroupResult,
  ItemResult,
  ItemTask,
  ListedItem,
  PageResult,
  PageTask,
  PairTask,
  Reject,
  TransformResult,
  TransformTask,
  WrittenPart,
} from "./tasks.ts";

export interface StagingOptions {
  /** Folder of the run's staged files. */
  readonly directory: string;
  /** Part of the file names, so that workers do not meet. */
  readonly worker: number;
  readonly policy: PersonalPolicy;
  /** 32 bytes or more; for the policy `hash` only. */
  readonly hashKey: Uint8Array | undefined;
  readonly aliases: Readonly<Record<string, string>>;
  readonly limits: DecodeLimits;
}

/** Rows held before they are written out, in bytes of all tables together. */
const FLUSH_BYTES = 12 * 1024 * 1024;
/** Places on a page, and pages in a sweep, that the order of observation tells apart. */
const PLACES = 100_000;
const PAGES = 10_000_000;

/** Position in the order of observation. Single-item answers come after all pages of their sweep. */
export function observation(at: { sweep: number; page: number; position: number; single: boolean }): number {
  return ((at.sweep * 2 + Number(at.single)) * PAGES + at.page) * PLACES + at.position;
}

/** A document that waits; with its view where the item is transformed together with it. */
interface Waiting {
  readonly raw: RawDocument;
  readonly view: View | undefined;
}

/** Pages or single items that wait for their group to be closed. */
interface Group {
  readonly pages: Map<number, Waiting[]>;
  readonly drift: Drift;
}

interface Held {
  readonly builder: TableBuilder;
  firstKey: string | undefined;
  lastKey: string;
}

export class Staging {
  readonly #options: StagingOptions;
  readonly #prepare: Prepare;
  readonly #drift = new Drift();
  readonly #pool = new SharedPool();
  readonly #tables = new Map<string, Held>();
  readonly #transform: ReturnType<typeof compileTransform>;
  readonly #groups = new Map<string, Group>();
  readonly #raw = new RawWriter();
  #generation = 0;
  #part = 0;
  #written: WrittenPart[] = [];

  constructor(pipeline: Pipeline, options: StagingOptions) {
    this.#options = options;
    this.#prepare = documentPreparer(options);
    this.#transform = compileTransform({
      tables: pipeline.tables,
      own: watchedOwnRows(pipeline),
      pool: this.#pool,
      sink: (table) => this.#sink(table),
    });
  }

  #sink(table: Table): (row: readonly Cell[]) => void {
    const held: Held = { builder: new TableBuilder(table), firstKey: undefined, lastKey: "" };
    this.#tables.set(table.name, held);
    return (row) => {
      held.builder.append(row);
      const key = String(row[0]);
      if (held.firstKey === undefined || compareUtf8(key, held.firstKey) < 0) held.firstKey = key;
      if (compareUtf8(key, held.lastKey) > 0) held.lastKey = key;
    };
  }

  /** Reads a page; its documents wait for their group to be closed. Errors are those of the answer. */
  page(task: PageTask): PageResult {
    const text = decodeBody(task.body.bytes, task.body.contentEncoding, this.#options.limits);
    const { response, ...answer } = readList(text);
    const items: ListedItem[] = [];
    const rejects: Reject[] = [];
    const documents: Waiting[] = [];
    // Nobody closes the group of a page that is not staged.
    const { pages, drift } =
      task.mode === "basic" ? { pages: undefined, drift: this.#drift } : this.#group(task);
    const mend = mender(text, drift);
    response.forEach((sent, position) => {
      const document = mend(sent, observation({ ...task, position, single: false }));
      const found = itemId(document);
      if ("reason" in found || !isObject(document)) {
        const reason = "reason" in found ? found.reason : "";
        rejects.push(this.#reject(task, { position, document, reason }, drift));
        return;
      }
      // First the document, which gives fields the names of the specification.
      if (pages !== undefined) documents.push(this.#document(task, { ...found, document, position }, drift));
      items.push(listed(found.id, position, document));
    });
    pages?.set(task.page, documents);
    return { answer, rows: response.length, items, rejects, decodedBytes: text.length };
  }

  #group(task: { sweep: number; group: number }): Group {
    const key = `${task.sweep}.${task.group}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { pages: new Map(), drift: new Drift() };
      this.#groups.set(key, group);
    }
    return group;
  }

  #document(
    task: PageTask,
    found: { id: string; document: JsonObject; position: number },
    drift: Drift,
  ): Waiting {
    const { id, document, position } = found;
    const shape: Shape = task.mode === "dynamic" ? "dynamic" : "full";
    const { sweep, page } = task;
    const order = observation({ sweep, page, position, single: false });
    const at = { order, contentId: id, observedAt: task.body.observedAt };
    const view = this.#view(shape, document, at, drift);
    // The items of a group of the full listing are transformed when it is closed, those of others from raw files.
    const raw = rawOf(view, { contentId: id, mode: shape, sweep, page, position });
    return { raw, view: shape === "full" ? view : undefined };
  }

  #view(
    shape: Shape,
    document: JsonObject,
    at: { order: number; contentId: string; observedAt: number },
    drift: Drift,
  ): View {
    const { order, contentId, observedAt } = at;
    const { unknown } = this.#prepare(shape, document, { order, contentId }, drift);
    return { shape, document, observedAt, order, unknown };
  }

  #reject(task: PageTask, rejected: Rejected, drift: Drift): Reject {
    const { mode, sweep, page } = task;
    const { position, document, reason } = rejected;
    const order = observation({ sweep, page, position, single: false });
    const shape: Shape = mode === "dynamic" ? "dynamic" : "full";
    // The policy holds for what is no object too, and may take it away altogether.
    const holder: JsonObject = { document };
    const at = { order, contentId: null };
    this.#prepare(shape, isObject(document) ? document : holder, at, drift);
    const kept = JSON.stringify(holder.document) ?? "null";
    return { mode, sweep, page, position, contentId: null, reason, document: kept };
  }

  /** Reads a single-item answer; a document of another item is a reject. */
  item(task: ItemTask): ItemResult {
    const text = decodeBody(task.body.bytes, task.body.contentEncoding, this.#options.limits);
    const { sweep, page, position, contentId } = task;
    const order = observation({ sweep, page, position, single: true });
    const { pages, drift } = this.#group(task);
    const document = mender(text, drift)(readItem(text), order);
    const found = itemId(document);
    if ("reason" in found || found.id !== contentId || !isObject(document)) {
      const reason =
        "reason" in found ? found.reason : "the answer is of another item than the one asked for";
      if (isObject(document)) this.#prepare(task.shape, document, { order, contentId }, drift);
      const kept = JSON.stringify(document) ?? "null";
      const reject = { mode: "item", sweep, page, position, contentId, reason, document: kept };
      return { updatedAt: undefined, rejects: [reject] };
    }
    const { updatedAt } = listed(contentId, position, document);
    const at = { order, contentId, observedAt: task.body.observedAt };
    const view = this.#view(task.shape, document, at, drift);
    const documents = pages.get(page) ?? [];
    documents.push({
      raw: rawOf(view, { contentId, mode: "item", sweep, page, position }),
      view: undefined,
    });
    pages.set(page, documents);
    return { updatedAt, rejects: [] };
  }

  /** Writes a group's documents, in the order of its pages; then pairs its items with their other views. */
  close(task: CloseTask): GroupResult {
    const group = this.#group(task);
    this.#groups.delete(`${task.sweep}.${task.group}`);
    const drift = group.drift.take();
    const documents = [...group.pages]
      .sort(([a], [b]) => a - b)
      .flatMap(([, found]) => found.toSorted((a, b) => a.raw.position - b.raw.position));
    if (documents.length === 0) return { file: undefined, transformed: [], drift };
    const raw = documents.map((waiting) => waiting.raw);
    const file = this.#raw.write(join(this.#options.directory, task.rawFile), raw);
    const transformed = task.pairWith === undefined ? [] : this.#pair(viewsOf(documents), task.pairWith);
    return { file, transformed, drift };
  }

  /** Forgets the groups of a pass that are not closed. */
  drop({ sweep }: DropTask): void {
    for (const key of this.#groups.keys()) if (key.startsWith(`${sweep}.`)) this.#groups.delete(key);
  }

  /** As closing the group did for its items, once more: from the file that it wrote. */
  pair(task: PairTask): TransformResult {
    const rows = new RawRows(join(this.#options.directory, task.rawFile));
    return { transformed: this.#pair(viewsIn(rows), task.pairWith) };
  }

  /** Transforms the items of `documents` that have a view in the files; each once. */
  #pair(documents: Iterable<readonly [contentId: string, view: View]>, files: readonly string[]): string[] {
    const others = new RawViews(files);
    const transformed: string[] = [];
    for (const [contentId, view] of documents) {
      const views = others.take(contentId);
      if (views.length === 0) continue;
      this.#transformItem(contentId, [view, ...views]);
      transformed.push(contentId);
    }
    return transformed;
  }

  #transformItem(contentId: string, views: readonly View[]): void {
    this.#transform({ contentId, views, order: views[0]?.order ?? 0, drift: this.#drift });
    if (this.#bytes() > FLUSH_BYTES) this.#write();
  }

  #bytes(): number {
    let bytes = 0;
    for (const { builder } of this.#tables.values()) bytes += builder.bytes;
    return bytes;
  }

  transform(task: TransformTask): TransformResult {
    if (task.generation !== this.#generation) {
      this.#write();
      this.#generation = task.generation;
    }
    const transformed: string[] = [];
    const views = new RawViews(task.rawFiles);
    for (const contentId of views.ids()) {
      this.#transformItem(contentId, views.take(contentId));
      transformed.push(contentId);
    }
    return { transformed };
  }

  /** Writes out all rows that are held; gives everything that was not given before. */
  flush(): FlushResult {
    this.#write();
    const parts = this.#written;
    this.#written = [];
    return { parts, sightings: this.#pool.take(), drift: this.#drift.take() };
  }

  #write(): void {
    this.#part += 1;
    for (const [table, held] of this.#tables) {
      const rows = held.builder.rows;
      if (rows === 0) continue;
      const name = `${table}-${this.#options.worker}-${String(this.#part).padStart(5, "0")}.parquet`;
      const file = join(this.#options.directory, "parts", table, name);
      const { bytes } = held.builder;
      writePart(file, held.builder.take(), "fast");
      const { firstKey = "", lastKey } = held;
      const part = { file, rows, firstKey, lastKey, generation: this.#generation };
      this.#written.push({ table, part, bytes });
      held.firstKey = undefined;
      held.lastKey = "";
    }
  }
}

type RawPlace = Pick<RawDocument, "contentId" | "mode" | "sweep" | "page" | "position">;

/** The text is made at once: later, when the parsed document has moved in memory, it takes half as long again. */
function rawOf({ shape, order, observedAt, unknown, document }: View, place: RawPlace): RawDocument {
  const text = JSON.stringify(document);
  return { ...place, view: { shape, order, observedAt }, unknownFields: unknown.length, document: text };
}

function* viewsOf(documents: readonly Waiting[]): Generator<readonly [string, View]> {
  for (const { raw, view } of documents) if (view !== undefined) yield [raw.contentId, view];
}

function* viewsIn(rows: RawRows): Generator<readonly [string, View]> {
  for (const [row, contentId] of rows.ids.entries()) yield [contentId, rows.view(row)];
}

interface Rejected {
  readonly position: number;
  readonly document: unknown;
  readonly reason: string;
}

/** Takes halves of characters out of the documents of an answer; most answers have none. */
function mender(text: string, drift: Drift): (document: unknown, order: number) => unknown {
  if (!mayHoldHalves(text)) return (document) => document;
  return (document, order) => mendHalves(document, (path) => drift.note(path, "unreadable", order, null));
}

function listed(id: string, position: number, document: JsonObject): ListedItem {
  const updatedAt = document.updated_at;
  return {
    id,
    position,
    updatedAt: typeof updatedAt === "string" ? updatedAt.slice(0, 19) : null,
    event: document.body_type === "event",
  };
}
