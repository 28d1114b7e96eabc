/**
 * Raw files of a run, for a run that is built again of them. What they name of runs that are replaced gets its new name.
 * Where another version of the program landed them, this one's policy and contract are applied to every document: what
 * it does not know is counted anew, and what it alone knows as personal is dropped.
 */
import { hash } from "node:crypto";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { parseExact } from "../common/json.ts";
import type { Cell, Columns } from "../storage/parquet/read.ts";
import { PartWriter, readPart } from "../storage/parquet-file.ts";
import { type EncodedCell, rowOf, TableBuilder } from "../storage/table-builder.ts";
import { isObject } from "./document.ts";
import { Drift, type DriftEntry } from "./drift.ts";
import { NO_FINGERPRINT } from "./fingerprint.ts";
import { NO_PERSONAL_FIELDS } from "./personal/fields.ts";
import type { PersonalPolicy } from "./personal/policy.ts";
import { documentPreparer, isRawShape, lookupPreparer, type RawShape } from "./prepare.ts";
import { RAW_COLUMNS } from "./raw-file.ts";

export interface Renewal {
  /** Name of a run to its new one. */
  readonly renamed: ReadonlyMap<string, string>;
  /** That the documents were landed with, by another version; null: this version landed them. */
  readonly policyThen: PersonalPolicy | null;
}

/** Columns that files of earlier versions lack: nothing of them is reused, and their run read them. */
const UNKNOWN: Readonly<Record<string, string>> = {
  fingerprint: NO_FINGERPRINT,
  answer_drift: "[]",
  answer_sha256: "",
  read_by_run: "",
};

type RawCells = Readonly<Record<string, EncodedCell>>;

/** Copies raw files, and tells what was found in all of them. */
export class RawRenewal {
  /** Fields that only this version knows as personal: how many values of each were dropped. */
  readonly dropped = new Map<string, number>();
  readonly #renewal: Renewal;
  readonly #found = new Drift();
  readonly #parts = new PartWriter();
  readonly #builder = new TableBuilder({ columns: RAW_COLUMNS });
  readonly #prepare: ReturnType<typeof preparerAgain>;

  constructor(renewal: Renewal) {
    this.#renewal = renewal;
    this.#prepare = preparerAgain(renewal.policyThen ?? "keep", (field) =>
      this.dropped.set(field, (this.dropped.get(field) ?? 0) + 1),
    );
  }

  /** One without documents, which has no columns of them, is copied as it is. */
  async copy(from: string, to: string): Promise<void> {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    if (!from.endsWith(".parquet")) return copyFile(from, to);
    using columns = readPart(from);
    if (!columns.has("shape") || !this.#changes(columns)) return copyFile(from, to);
    const cells = RAW_COLUMNS.map(({ name }) => [name, this.#cellsOf(columns, name)] as const);
    for (const row of columns.cells("content_id").keys()) {
      const read = Object.fromEntries(cells.map(([name, values]) => [name, values[row] ?? null]));
      this.#builder.append(rowOf(this.#builder, this.#renewed(read)));
    }
    this.#builder.take((rows) => this.#parts.write(to, rows));
  }

  /**
   * The drift of the run, of which every document was copied. Unknown fields are counted anew, but for those that the
   * policy took before: they are in no document.
   */
  drift(then: readonly DriftEntry[]): readonly DriftEntry[] {
    if (this.#renewal.policyThen === null) return then;
    const all = new Drift();
    const found = this.#found.sorted().filter(({ kind }) => kind === "unknown_field");
    const counts = new Map(found.map(({ path, count }) => [path, count]));
    const dropped = new Set(then.flatMap(({ path, kind }) => (kind === "personal_dropped" ? path : [])));
    for (const entry of found) all.add(entry);
    for (const entry of then) {
      const { kind, path, count } = entry;
      const taken = count - (counts.get(path) ?? 0);
      if (kind !== "unknown_field") all.add(entry);
      // An earlier replay noted the last name alone.
      else if (taken > 0 && (dropped.has(path) || dropped.has(lastName(path))))
        all.add({ ...entry, count: taken });
    }
    for (const [path, count] of this.dropped)
      all.add({ path, kind: "personal_dropped", count, order: 0, contentId: null, example: null });
    return all.sorted();
  }

  #changes(columns: Columns): boolean {
    const { policyThen, renamed } = this.#renewal;
    if (policyThen !== null || !columns.has("read_by_run")) return true;
    return columns.cells("read_by_run").some((cell) => renamed.has(textOf(cell)));
  }

  #cellsOf(columns: Columns, name: string): readonly EncodedCell[] {
    if (columns.has(name)) return columns.cells(name);
    return columns.cells("content_id").map(() => UNKNOWN[name] ?? "");
  }

  #renewed(cells: RawCells): RawCells {
    const run = textOf(cells.read_by_run);
    const named = { ...cells, read_by_run: this.#renewal.renamed.get(run) ?? run };
    if (this.#renewal.policyThen === null) return named;
    const shape = textOf(cells.shape);
    const document: unknown = parseExact(textOf(cells.document));
    if (!isRawShape(shape) || !isObject(document)) throw new TypeError("a raw document is not what it says");
    const at = { order: Number(cells.observation), contentId: textOf(cells.content_id) };
    const before = this.#droppedSoFar();
    const unknown_fields = this.#prepare(shape, document, at, this.#found).length;
    if (this.#droppedSoFar() === before) return { ...named, unknown_fields };
    const text = JSON.stringify(document);
    const sha256 = hash("sha256", text);
    const answer_sha256 = run === "" ? "" : sha256;
    return { ...named, unknown_fields, document: text, sha256, answer_sha256, fingerprint: NO_FINGERPRINT };
  }

  #droppedSoFar(): number {
    return [...this.dropped.values()].reduce((sum, count) => sum + count, 0);
  }
}

/** Prepares what was prepared before. Gives what the contract does not know of a document. */
function preparerAgain(policy: PersonalPolicy, onDropped: (field: string) => void) {
  const again = { policy, hashKey: undefined, fields: NO_PERSONAL_FIELDS, onDropped };
  const items = documentPreparer({ ...again, aliases: {} });
  const lookups = lookupPreparer(again);
  return (
    shape: RawShape,
    document: Record<string, unknown>,
    at: { readonly order: number; readonly contentId: string },
    drift: Drift,
  ) =>
    shape === "dynamic" || shape === "full"
      ? items(shape, document, at, drift).unknown
      : lookups(shape, document, drift);
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

function textOf(cell: EncodedCell | Cell | undefined): string {
  return Buffer.isBuffer(cell) ? cell.toString("utf8") : String(cell ?? "");
}
