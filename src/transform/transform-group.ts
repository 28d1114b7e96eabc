/** Transforms groups of items: raw documents in, parts with the rows of all item tables out. Runs in a worker thread if there are many. */
import { join } from "node:path";
import { collectGarbage } from "../common/free-memory.ts";
import type { JsonObject } from "../common/json.ts";
import { compareUtf8 } from "../common/utf8-order.ts";
import type { Pipeline } from "../pipeline.ts";
import { ExtraFields, type ItemDocument, type RawItem } from "../raw/document.ts";
import { Drift, type DriftEntry, type DriftItemCount } from "../raw/drift.ts";
import { RawFileReader } from "../raw/raw-file.ts";
import { pathOf } from "../raw/unknown-fields.ts";
import { PartWriter, type StagedPart } from "../storage/parquet-file.ts";
import { type Cell, TableBuilder } from "../storage/table-builder.ts";
import type { Table } from "../tables/declare.ts";
import { customFieldValueRows } from "./custom-fields.ts";
import { customRows } from "./custom-tables.ts";
import { EntityPool, type EntityVersion } from "./entity-store.ts";
import { fileRow, JOINED_ROWS } from "./joined-rows.ts";
import type { ListedField } from "./listed-fields.ts";
import { loadPipeline } from "./pipelines.ts";
import { declaredRows, type RowMaker } from "./rows.ts";

/** Items that are transformed together. */
export interface ItemGroup {
  readonly files: readonly string[];
  /** For each item: number of documents that count, then for each, the latest first, index in `files` and row. */
  readonly documents: Uint32Array<ArrayBuffer>;
}

interface TablePart {
  readonly table: string;
  readonly part: StagedPart;
  /** Size before compression. */
  readonly bytes: number;
}

export interface TransformOutput {
  readonly parts: readonly TablePart[];
  readonly versions: readonly EntityVersion[];
  readonly listedFields: readonly ListedField[];
  readonly drift: readonly DriftEntry[];
  readonly driftItems: readonly DriftItemCount[];
}

/** `flush` writes all rows in memory. */
export type TransformTask = (ItemGroup & { readonly kind: "group" }) | { readonly kind: "flush" };

interface TransformSetup {
  /** The pipeline, or the module whose default export it is: its functions cannot cross threads. */
  readonly pipeline: Pick<Pipeline, "tables" | "rows"> | string;
  readonly directory: string;
  /** Part of file names, so that those of two threads differ. */
  readonly thread: number;
}

/** Bytes in memory at which the larger tables are written. Small tables wait, because each file has a cost. */
const FLUSH_BYTES = 12 * 1024 * 1024;

type TableBuffer = { readonly builder: TableBuilder; firstKey: string | undefined; lastKey: string };

/** Transforms groups; the last task is `flush`. */
export default async function performTransform({ pipeline, ...options }: TransformSetup) {
  const loaded = typeof pipeline === "string" ? await loadPipeline(pipeline) : pipeline;
  const transformer = new GroupTransformer(loaded, options);
  return (task: TransformTask) => {
    if (task.kind === "group") return transformer.group(task);
    const flushed = transformer.flush();
    // V8 keeps the memory of an ended thread for 8 seconds, in which the load begins.
    collectGarbage();
    return flushed;
  };
}

/** Only the tables made from items are used. */
interface TransformPlan extends Pick<Pipeline, "tables" | "rows"> {
  /** Returns the function that takes the rows of a table. */
  readonly sink: (table: Table) => (row: readonly Cell[]) => void;
  readonly pool: EntityPool;
}

/** Compiles the transform of an item. `content` comes last, because it takes the unknown fields that no row claimed. */
export function compileTransform(plan: TransformPlan): (item: RawItem) => void {
  const steps = plan.tables
    .filter((table) => table.stage === "item")
    .map((table) => ({ table, rows: rowsOf(plan, table), emit: plan.sink(table) }));
  steps.sort((a, b) => Number(a.table.name === "content") - Number(b.table.name === "content"));
  return (item) => {
    plan.pool.describe(item);
    for (const { rows, emit } of steps) rows(item, emit);
  };
}

function rowsOf(plan: TransformPlan, table: Table): RowMaker {
  const declared = declaredRows(table);
  if (declared !== undefined) return declared;
  const custom = plan.rows[table.name];
  if (custom !== undefined) return customRows(table, custom);
  if (table.name === "content_custom_field_values") return customFieldValueRows(table, fileSink(plan));
  const joined = JOINED_ROWS[table.name];
  if (joined === undefined) throw new TypeError(`no program for table ${table.name}`);
  return joined(table);
}

function fileSink(plan: TransformPlan): (item: RawItem, file: JsonObject) => void {
  const files = plan.tables.find((table) => table.name === "custom_field_files");
  if (files === undefined) return () => {};
  const emit = plan.sink(files);
  return (item, file) => emit(fileRow(files, item, file, { extra: new ExtraFields(), fixed: {} }));
}

export class GroupTransformer {
  readonly #options: Omit<TransformSetup, "pipeline">;
  readonly #drift = new Drift();
  readonly #pool = new EntityPool();
  readonly #tables = new Map<string, TableBuffer>();
  readonly #transform: ReturnType<typeof compileTransform>;
  readonly #parts = new PartWriter();
  #part = 0;
  #written: TablePart[] = [];

  constructor(pipeline: Pick<Pipeline, "tables" | "rows">, options: Omit<TransformSetup, "pipeline">) {
    this.#options = options;
    this.#transform = compileTransform({
      tables: pipeline.tables,
      rows: pipeline.rows,
      pool: this.#pool,
      sink: (table) => this.#sink(table),
    });
  }

  #sink(table: Table): (row: readonly Cell[]) => void {
    const held: TableBuffer = { builder: new TableBuilder(table), firstKey: undefined, lastKey: "" };
    this.#tables.set(table.name, held);
    return (row) => {
      held.builder.append(row);
      const key = String(row[0]);
      if (key === held.lastKey) return;
      if (held.firstKey === undefined || compareUtf8(key, held.firstKey) < 0) held.firstKey = key;
      if (compareUtf8(key, held.lastKey) > 0) held.lastKey = key;
    };
  }

  /** Transforms a group, and returns its number of items. Throws a TypeError for a raw file that cannot be read. */
  group({ files, documents }: ItemGroup): number {
    const opened = files.map((file) => new RawFileReader(file));
    try {
      let items = 0;
      for (let at = 0; at < documents.length; items += 1) {
        const count = documents[at++] ?? 0;
        const views: ItemDocument[] = [];
        let contentId = "";
        for (let each = 0; each < count; each++) {
          const rows = opened[documents[at++] ?? 0];
          const row = documents[at++] ?? 0;
          if (rows === undefined) throw new RangeError("a group names a file that it does not have");
          views.push(rows.view(row));
          contentId = rows.ids[row] ?? "";
        }
        this.#item(contentId, views);
      }
      return items;
    } finally {
      for (const rows of opened) rows[Symbol.dispose]();
    }
  }

  #item(contentId: string, views: readonly ItemDocument[]): void {
    this.#transform({ contentId, views, order: views[0]?.order ?? 0, drift: this.#drift });
    for (const { unknown } of views)
      for (const { path } of unknown) this.#drift.noteItem(pathOf(path), "unknown_field", contentId);
    let bytes = 0;
    for (const { builder } of this.#tables.values()) bytes += builder.bytes;
    if (bytes > FLUSH_BYTES) this.#write(FLUSH_BYTES / (2 * this.#tables.size));
  }

  /** Writes all rows in memory, and returns the results since the last call. */
  flush(): TransformOutput {
    this.#write(0);
    const parts = this.#written;
    this.#written = [];
    const driftItems = this.#drift.itemCounts();
    const listedFields = this.#pool.listedFields.take();
    return { parts, versions: this.#pool.take(), listedFields, drift: this.#drift.take(), driftItems };
  }

  /** Writes the tables with at least this number of bytes in memory. */
  #write(bytesAtLeast: number): void {
    this.#part += 1;
    for (const [table, held] of this.#tables) {
      const { rows, bytes } = held.builder;
      if (rows === 0 || bytes < bytesAtLeast) continue;
      const name = `${table}-${this.#options.thread}-${String(this.#part).padStart(5, "0")}.parquet`;
      const file = join(this.#options.directory, table, name);
      held.builder.take((batch) => this.#parts.write(file, batch));
      const { firstKey = "", lastKey } = held;
      this.#written.push({ table, part: { file, rows, firstKey, lastKey }, bytes });
      held.firstKey = undefined;
      held.lastKey = "";
    }
  }
}
