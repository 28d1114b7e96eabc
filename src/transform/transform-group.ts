/** Transforms groups of items: raw documents in, parts out. No thread, network or clock. */
import { join } from "node:path";
import { compareUtf8 } from "../common/utf8-order.ts";
import type { Pipeline } from "../pipeline.ts";
import type { ItemDocument } from "../raw/document.ts";
import { type DriftEntry, type DriftItemCount, ItemDrift } from "../raw/drift.ts";
import type { ItemGroup } from "../raw/groups.ts";
import { pathOf } from "../raw/prepare.ts";
import { RawFileReader } from "../raw/raw-file.ts";
import { PartWriter, type StagedPart } from "../storage/parquet-file.ts";
import { type Cell, TableBuilder } from "../storage/table-builder.ts";
import type { Table } from "../tables/declare.ts";
import { EntityPool, type EntityVersion } from "./entity-store.ts";
import { compileTransform } from "./item.ts";

interface TablePart {
  readonly table: string;
  readonly part: StagedPart;
  /** Size before compression. */
  readonly bytes: number;
}

export interface TransformOutput {
  readonly parts: readonly TablePart[];
  readonly versions: readonly EntityVersion[];
  readonly drift: readonly DriftEntry[];
  readonly driftItems: readonly DriftItemCount[];
}

export interface TransformerConfig {
  readonly directory: string;
  /** Part of file names, so that those of two threads differ. */
  readonly thread: number;
}

/** Bytes in memory at which the larger tables are written. Small tables wait, because each file has a cost. */
const FLUSH_BYTES = 12 * 1024 * 1024;

type TableBuffer = { readonly builder: TableBuilder; firstKey: string | undefined; lastKey: string };

export class GroupTransformer {
  readonly #options: TransformerConfig;
  readonly #drift = new ItemDrift();
  readonly #pool = new EntityPool();
  readonly #tables = new Map<string, TableBuffer>();
  readonly #transform: ReturnType<typeof compileTransform>;
  readonly #parts = new PartWriter();
  #part = 0;
  #written: TablePart[] = [];

  constructor(pipeline: Pick<Pipeline, "tables" | "rows">, options: TransformerConfig) {
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
    return {
      parts,
      versions: this.#pool.take(),
      drift: this.#drift.take(),
      driftItems: this.#drift.takeItems(),
    };
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
