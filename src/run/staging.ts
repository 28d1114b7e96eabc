/**
 * What a worker does with answers: documents in, raw files and parts out. No thread, no network and no clock here; the
 * worker around it passes messages.
 */
import { join } from "node:path";
import { type DecodeLimits, decodeBytes } from "../extract/pages/decode.ts";
import { EchoRedactor } from "../extract/pages/echo.ts";
import { compareUtf8 } from "../common/utf8-order.ts";
import { PartWriter } from "../storage/parquet-file.ts";
import type { Pipeline } from "../pipeline.ts";
import { release } from "../common/free-buffer.ts";
import { Secret } from "../common/secret.ts";
import type { Table } from "../tables/declare.ts";
import { type Cell, TableBuilder } from "../storage/table-builder.ts";
import { Drift, type DriftEntry, echoDrift } from "../raw/drift.ts";
import { compileTransform } from "../transform/item.ts";
import type { PersonalPolicy } from "../raw/personal.ts";
import { SharedPool } from "../transform/entity-store.ts";
import type { View } from "../raw/document.ts";
import type { SavedAnswer } from "../extract/landing/checkpoint-form.ts";
import { DocumentReader } from "../extract/pages/documents.ts";
import { watchedOwnRows } from "./own-tables.ts";
import { Pairing, type ViewedItem } from "./pairing.ts";
import {
  type RawDocument,
  RawRows,
  RawViews,
  RawWriter,
  restoredDocument,
  savedDocument,
  viewOf,
} from "../raw/raw-file.ts";
import type {
  Body,
  CloseTask,
  DropTask,
  FlushResult,
  GroupResult,
  ItemResult,
  ItemTask,
  PageReply,
  PageTask,
  PairTask,
  RestoreTask,
  SaveTask,
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
  /** The API token, as a text because a {@link Secret} does not cross threads: it is never written down. */
  readonly token: string;
}

/**
 * Rows held before they are written out, in bytes of all tables together. Half of it goes then, at least: tables that
 * hold little wait, because to make a file costs some tenths of a millisecond, and again when it is loaded.
 */
const FLUSH_BYTES = 12 * 1024 * 1024;

/** What an answer gave. */
interface Landed extends Pick<SavedAnswer, "page" | "single" | "drift"> {
  readonly documents: readonly RawDocument[];
}

/** Pages or single items that wait for their group to be closed. */
interface Group {
  readonly landed: Landed[];
  /** Bytes of pages that texts of documents are pieces of. */
  readonly bytes: Uint8Array[];
  /** Undefined: none of its items was to be transformed yet. */
  pairing: Pairing | undefined;
}

interface Held {
  readonly builder: TableBuilder;
  firstKey: string | undefined;
  lastKey: string;
}

export class Staging {
  readonly #options: StagingOptions;
  readonly #reader: DocumentReader;
  readonly #echoes: EchoRedactor;
  readonly #drift = new Drift();
  readonly #pool = new SharedPool();
  readonly #tables = new Map<string, Held>();
  readonly #transform: ReturnType<typeof compileTransform>;
  readonly #groups = new Map<string, Group>();
  readonly #parts = new PartWriter();
  readonly #raw = new RawWriter(this.#parts);
  #generation = 0;
  #part = 0;
  #written: WrittenPart[] = [];

  constructor(pipeline: Pipeline, options: StagingOptions) {
    this.#options = options;
    this.#reader = new DocumentReader(options);
    this.#echoes = new EchoRedactor(new Secret(options.token));
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
      if (key === held.lastKey) return;
      if (held.firstKey === undefined || compareUtf8(key, held.firstKey) < 0) held.firstKey = key;
      if (compareUtf8(key, held.lastKey) > 0) held.lastKey = key;
    };
  }

  /**
   * Reads a page; its documents wait for their group to be closed, its items are transformed together with their other
   * views once the pages before it were. Errors of the answer come before anything of the page is kept; every other one
   * ends the run.
   */
  page(task: PageTask): PageReply {
    const { bytes } = task.body;
    const { decoded, echoes } = this.#decoded(task.body);
    const decodedBytes = decoded.length;
    const { pagination, rows, documents } = this.#reader.list(decoded);
    // Nobody closes the group of a page that is not staged.
    const group = task.lands ? this.#group(task) : undefined;
    const { items, rejects, raw, viewed, drift } = this.#reader.page(task, documents);
    if (group === undefined) this.#addDrift(drift);
    else {
      for (const entry of echoes) drift.add(entry);
      group.landed.push({ page: task.page, single: null, documents: raw, drift: drift.take() });
    }
    if (decoded.buffer !== bytes.buffer) release(bytes);
    if (group === undefined) release(decoded);
    else group.bytes.push(decoded);
    const transformed = group === undefined ? [] : this.#pairPage(group, task, viewed);
    return {
      result: { answer: { pagination }, rows, items, rejects, decodedBytes },
      transformed,
    };
  }

  /** Reads a single-item answer; a document of another item is a reject. */
  item(task: ItemTask): ItemResult {
    const { decoded, echoes } = this.#decoded(task.body);
    const { page, contentId: id, shape } = task;
    const drift = new Drift();
    const { raw, ...result } = this.#reader.item(task, decoded.toString(), drift);
    for (const entry of echoes) drift.add(entry);
    this.#group(task).landed.push({ page, single: { id, shape }, documents: raw, drift: drift.take() });
    return result;
  }

  /** The text of a body, without the token. */
  #decoded({ bytes, contentEncoding }: Body): { decoded: Buffer; echoes: readonly DriftEntry[] } {
    const decoded = decodeBytes(bytes, contentEncoding, this.#options.limits);
    const redacted = this.#echoes.redact(decoded);
    if (redacted === undefined) return { decoded, echoes: [] };
    release(decoded);
    return { decoded: redacted.bytes, echoes: echoDrift(redacted.texts) };
  }

  #group(task: { sweep: number; group: number }): Group {
    const key = `${task.sweep}.${task.group}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { landed: [], bytes: [], pairing: undefined };
      this.#groups.set(key, group);
    }
    return group;
  }

  #pairPage(
    group: Group,
    { firstPage, page, pairWith }: Pick<PageTask, "firstPage" | "page" | "pairWith">,
    viewed: readonly ViewedItem[],
  ): string[] {
    if (pairWith === undefined) return [];
    group.pairing ??= new Pairing(pairWith, firstPage);
    const { others, drift } = group.pairing;
    return this.#pair(group.pairing.inOrder(page, viewed), others, drift);
  }

  /** Writes a group's documents, in the order of its pages. */
  close(task: CloseTask): GroupResult {
    const group = this.#group(task);
    this.#groups.delete(`${task.sweep}.${task.group}`);
    if (group.pairing !== undefined) this.#addDrift(group.pairing.drift);
    const drift = new Drift();
    for (const entry of group.landed.flatMap((each) => each.drift)) drift.add(entry);
    const documents = group.landed
      .flatMap((each) => each.documents)
      .sort((a, b) => a.page - b.page || a.position - b.position);
    const file = join(this.#options.directory, task.rawFile);
    const written = documents.length === 0 ? undefined : this.#raw.write(file, documents);
    letGoOf(group);
    return { file: written, drift: drift.take() };
  }

  #addDrift(drift: Drift): void {
    for (const entry of drift.take()) this.#drift.add(entry);
  }

  /** What a group holds so far; it goes on. */
  save({ sweep, group }: SaveTask): SavedAnswer[] {
    return this.#group({ sweep, group }).landed.map(({ documents, ...rest }) => {
      return { ...rest, documents: documents.map(savedDocument) };
    });
  }

  /** As reading the answers did, once more: from what was saved. */
  restore(task: RestoreTask): TransformResult {
    const group = this.#group(task);
    const transformed = task.landed.flatMap(({ documents, ...rest }) => {
      group.landed.push({ ...rest, documents: documents.map(restoredDocument) });
      if (task.pairWith === undefined) return [];
      const viewed = documents.map((each) => ({ contentId: each.contentId, view: viewOf(each) }));
      return this.#pairPage(group, { ...task, page: rest.page }, viewed);
    });
    return { transformed };
  }

  /** Forgets the groups of a pass that are not closed. */
  drop({ sweep }: DropTask): void {
    for (const [key, group] of this.#groups) {
      if (!key.startsWith(`${sweep}.`)) continue;
      this.#groups.delete(key);
      letGoOf(group);
    }
  }

  /** As reading the group's pages did for its items, once more: from the file that it wrote. */
  pair(task: PairTask): TransformResult {
    using rows = new RawRows(join(this.#options.directory, task.rawFile));
    using others = new RawViews([task.pairWith.listed], task.pairWith.singles);
    return { transformed: this.#pair(viewsIn(rows), others, this.#drift) };
  }

  /** Transforms the items that have other views; each once. */
  #pair(items: Iterable<ViewedItem>, others: RawViews, drift: Drift): string[] {
    const transformed: string[] = [];
    for (const { contentId, view } of items) {
      const views = others.take(contentId);
      if (views.length === 0) continue;
      this.#transformItem(contentId, [view, ...views], drift);
      transformed.push(contentId);
    }
    return transformed;
  }

  #transformItem(contentId: string, views: readonly View[], drift: Drift): void {
    this.#transform({ contentId, views, order: views[0]?.order ?? 0, drift });
    if (this.#bytes() > FLUSH_BYTES) this.#write(FLUSH_BYTES / (2 * this.#tables.size));
  }

  #bytes(): number {
    let bytes = 0;
    for (const { builder } of this.#tables.values()) bytes += builder.bytes;
    return bytes;
  }

  transform(task: TransformTask): TransformResult {
    if (task.generation !== this.#generation) {
      this.#write(0);
      this.#generation = task.generation;
    }
    const transformed: string[] = [];
    using views = new RawViews(task.rawFiles);
    for (const contentId of views.ids()) {
      this.#transformItem(contentId, views.take(contentId), this.#drift);
      transformed.push(contentId);
    }
    return { transformed };
  }

  /** Writes out all rows that are held; gives everything that was not given before. */
  flush(): FlushResult {
    this.#write(0);
    const parts = this.#written;
    this.#written = [];
    return { parts, sightings: this.#pool.take(), drift: this.#drift.take() };
  }

  /** Writes the rows of tables that hold so many bytes. */
  #write(bytesAtLeast: number): void {
    this.#part += 1;
    for (const [table, held] of this.#tables) {
      const { rows, bytes } = held.builder;
      if (rows === 0 || bytes < bytesAtLeast) continue;
      const name = `${table}-${this.#options.worker}-${String(this.#part).padStart(5, "0")}.parquet`;
      const file = join(this.#options.directory, "parts", table, name);
      held.builder.take((batch) => this.#parts.write(file, batch));
      const { firstKey = "", lastKey } = held;
      const part = { file, rows, firstKey, lastKey, generation: this.#generation };
      this.#written.push({ table, part, bytes });
      held.firstKey = undefined;
      held.lastKey = "";
    }
  }
}

function letGoOf({ bytes, pairing }: Group): void {
  for (const page of bytes) release(page);
  pairing?.[Symbol.dispose]();
}

function* viewsIn(rows: RawRows): Generator<ViewedItem> {
  for (const [row, contentId] of rows.ids.entries()) yield { contentId, view: rows.view(row) };
}
