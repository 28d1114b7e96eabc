/**
 * What a thread does with answers: documents in, raw files out. No thread, no network and no clock here; the worker
 * around it passes messages.
 */
import { release } from "../../common/free-buffer.ts";
import { Secret } from "../../common/secret.ts";
import { Drift, type DriftEntry, echoDrift } from "../../raw/drift.ts";
import type { DocumentOptions } from "../../raw/prepare.ts";
import { type RawDocument, RawWriter, restoredDocument, savedDocument } from "../../raw/raw-file.ts";
import { type IndexedFile, indexOf, readIndex } from "../../raw/raw-index.ts";
import { PartWriter } from "../../storage/parquet-file.ts";
import { decodeBytes } from "../pages/decode.ts";
import { DocumentReader, type Fingerprints, type ReadDocuments } from "../pages/documents.ts";
import { EchoRedactor } from "../pages/echo.ts";
import type { PageResult, SavedAnswer, SingleKey } from "./checkpoint-form.ts";
import type {
  Body,
  CopyTask,
  GroupKey,
  GroupResult,
  ItemResult,
  ItemTask,
  PageTask,
  TaskOf,
} from "./tasks.ts";

export interface LanderOptions extends DocumentOptions, Fingerprints {
  /** The API token, as a text because a {@link Secret} does not cross threads: it is never written down. */
  readonly token: string;
}

/** Answers that wait for their group to be closed. */
interface Group {
  readonly landed: (Omit<SavedAnswer, "documents"> & { readonly documents: readonly RawDocument[] })[];
  /** Bytes of pages that texts of documents are pieces of. */
  readonly bytes: Uint8Array[];
}

export class Lander {
  readonly #reader: DocumentReader;
  readonly #echoes: EchoRedactor;
  readonly #groups = new Map<string, Group>();
  readonly #raw = new RawWriter(new PartWriter());

  constructor(options: LanderOptions) {
    this.#reader = new DocumentReader(options, options);
    this.#echoes = new EchoRedactor(new Secret(options.token));
  }

  /**
   * Reads a page; its documents wait for their group to be closed. Errors of the answer come before anything of the page
   * is kept; every other one ends the run.
   */
  page(task: PageTask): PageResult {
    const { bytes } = task.body;
    const { decoded, echoes } = this.#decoded(task.body);
    const decodedBytes = decoded.length;
    const { pagination, rows, documents } = this.#reader.list(decoded);
    const read = this.#reader.page(task, documents);
    if (decoded.buffer !== bytes.buffer) release(bytes);
    if (task.lands) this.#land(task, null, read, echoes).bytes.push(decoded);
    else release(decoded);
    const { items, rejects } = read;
    return { answer: { pagination }, rows, items, rejects, decodedBytes };
  }

  /** Reads a single-item answer; a document of another item is a reject. */
  item(task: ItemTask): ItemResult {
    const { decoded, echoes } = this.#decoded(task.body);
    const { contentId: id, shape } = task;
    const read = this.#reader.item(task, { text: decoded.toString(), echoes });
    if (task.lands) this.#land(task, { id, shape }, read, []);
    return { updatedAt: read.items[0]?.updatedAt, rejects: read.rejects };
  }

  /** Lands documents of the run before. */
  copy(task: CopyTask): undefined {
    const group = this.#group(task);
    for (const { raw, drift } of this.#reader.copies(task)) {
      const single = { id: raw.contentId, shape: raw.view.shape };
      group.landed.push({ page: raw.page, single, drift: drift.take(), fieldNames: [], documents: [raw] });
    }
  }

  #land(
    task: PageTask | ItemTask,
    single: SingleKey | null,
    { raw: documents, fieldNames, drift }: ReadDocuments,
    echoes: readonly DriftEntry[],
  ): Group {
    for (const entry of echoes) drift.add(entry);
    const group = this.#group(task);
    const answer = { page: task.page, single, drift: drift.take(), fieldNames: [...fieldNames] };
    group.landed.push({ ...answer, documents });
    return group;
  }

  /** The text of a body, without the token. */
  #decoded({ bytes, contentEncoding }: Body): { decoded: Buffer; echoes: readonly DriftEntry[] } {
    const decoded = decodeBytes({ body: bytes, contentEncoding });
    const redacted = this.#echoes.redact(decoded);
    if (redacted === undefined) return { decoded, echoes: [] };
    release(decoded);
    return { decoded: redacted.bytes, echoes: echoDrift(redacted.texts) };
  }

  #group({ pass, group }: GroupKey): Group {
    const key = `${pass}.${group}`;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const opened: Group = { landed: [], bytes: [] };
    this.#groups.set(key, opened);
    return opened;
  }

  /** Writes a group's documents, in the order of its pages. */
  close(task: TaskOf<"close">): GroupResult {
    const group = this.#group(task);
    this.#groups.delete(`${task.pass}.${task.group}`);
    const drift = new Drift();
    for (const entry of group.landed.flatMap((each) => each.drift)) drift.add(entry);
    const documents = group.landed
      .flatMap((each) => each.documents)
      .sort((a, b) => a.page - b.page || a.position - b.position);
    const file = documents.length === 0 ? undefined : this.#raw.write(task.rawFile, documents);
    const fieldNames = [...new Set(group.landed.flatMap((each) => each.fieldNames))];
    free(group);
    return { file, indexed: indexOf(documents), drift: drift.take(), fieldNames };
  }

  /** What a group holds so far; it goes on. */
  save(task: TaskOf<"save">): SavedAnswer[] {
    return this.#group(task).landed.map(({ documents, ...rest }) => {
      return { ...rest, documents: documents.map(savedDocument) };
    });
  }

  /** As reading the answers did, once more: from what was saved. */
  restore(task: TaskOf<"restore">): undefined {
    const group = this.#group(task);
    for (const { documents, ...rest } of task.landed)
      group.landed.push({ ...rest, documents: documents.map(restoredDocument) });
  }

  drop({ pass }: TaskOf<"drop">): undefined {
    for (const [key, group] of this.#groups) {
      if (!key.startsWith(`${pass}.`)) continue;
      this.#groups.delete(key);
      free(group);
    }
  }

  index({ rawFile }: TaskOf<"index">): IndexedFile {
    return readIndex(rawFile);
  }
}

function free({ bytes }: Group): void {
  for (const page of bytes) release(page);
}
