/**
 * What a published run kept, as a service gives it: the raw documents that count, after the personal-data policy. What was
 * not asked for that night is left out, as a service leaves out what it has not.
 */
import { join } from "node:path";
import { BASIC_FIELDS } from "../api/basic.ts";
import { DYNAMIC_COLUMNS, isDynamicColumn } from "../api/dynamic.ts";
import { codeOf } from "../common/errors.ts";
import type { Shape } from "../raw/document.ts";
import { leftOut } from "../raw/extract-record.ts";
import { RawRows } from "../raw/raw-file.ts";
import type { RawIndex, RawPlace } from "../raw/raw-index.ts";
import { readRaw } from "../raw/read-raw.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { assertRawWhole } from "../warehouse/raw-documents.ts";
import { HttpError } from "./http-error.ts";
import { pageOf } from "./listing.ts";
import { unknownActor } from "./permissions.ts";
import { parseNames, type ViewRequest } from "./query.ts";
import type { ServedContent } from "./served.ts";

export interface KeptRun {
  readonly run: string;
  /** Absolute path of its folder. */
  readonly directory: string;
  readonly manifest: Pick<Manifest, "files">;
  /** Whoever has it may ask. */
  readonly token: string;
}

export interface KeptContent extends ServedContent {
  /** Items. */
  readonly count: number;
}

type Document = Readonly<Record<string, unknown>>;

/**
 * Throws `config.not_found` for a run without raw documents and for one of an older program, and `verify.failed` where
 * one of its raw files is damaged.
 */
export async function keptContent(kept: KeptRun): Promise<KeptContent> {
  await assertRawWhole(kept, kept.directory);
  const landed = await readRaw(join(kept.directory, "raw"));
  const { items, index } = landed.takeItems();
  const { destinations, definitions } = landed.lookups();
  const gone = new Set(leftOut(landed.facts));
  const there = [...items.sorted()].filter(
    (item) => !gone.has(items.idOf(item)) && index.counting(item).length > 0,
  );
  const documents = new KeptDocuments(index, kept.run);
  const orders = { dynamic: listed(index, there, "dynamic"), full: listed(index, there, "full") };
  return {
    count: there.length,
    actors: new Map([[kept.token, unknownActor("")]]),
    page: async (view, wanted) => {
      const { positions, pagination } = pageOf(orders[shapeOf(view)], wanted);
      return { items: positions.map((item) => documents.listed(item, view)), pagination };
    },
    item: async (id, view) => {
      const item = gone.has(id) ? undefined : items.find(id);
      return item === undefined ? undefined : documents.single(item, view);
    },
    destinations: (parameters) => {
      const names = new Set<unknown>(parseNames(parameters));
      const platform = parameters.get("platform");
      const found = destinations.filter(
        ({ answer }) =>
          names.has(answer.identification) && (platform === null || answer.platform === platform),
      );
      return found.map(({ answer }) => answer);
    },
    customFields: (parameters) => {
      const names = new Set<unknown>(parseNames(parameters));
      return definitions.filter(({ answer }) => names.has(answer.name)).map(({ answer }) => answer);
    },
    close: async () => documents.close(),
  };
}

function shapeOf({ detail }: ViewRequest): Shape {
  return detail === "dynamic" ? "dynamic" : "full";
}

/** In the order in which the documents of a listing were read; items that it did not give come last. */
function listed(index: RawIndex, items: readonly number[], shape: Shape): number[] {
  const orders = new Map(
    items.map((item) => {
      const place = wholePlace(index, index.counting(item), shape);
      return [item, place === undefined ? Number.POSITIVE_INFINITY : index.about(place).order];
    }),
  );
  const orderOf = (item: number) => orders.get(item) ?? 0;
  // Infinity less itself is no number.
  return items.toSorted((a, b) => (orderOf(a) === orderOf(b) ? 0 : orderOf(a) - orderOf(b)));
}

/** Of those that count: only one is whole, and it replaces all before it. */
function wholePlace(index: RawIndex, places: readonly RawPlace[], shape: Shape): RawPlace | undefined {
  return places.find((place) => {
    const about = index.about(place);
    return about.whole && about.shape === shape;
  });
}

/** Raw files that are open at the same time: a page has documents of a few. */
const FILES_OPEN = 8;

class KeptDocuments {
  readonly #index: RawIndex;
  readonly #run: string;
  /** By their place in the index, the one that was read last at the end. */
  readonly #open = new Map<number, RawRows>();

  constructor(index: RawIndex, run: string) {
    this.#index = index;
    this.#run = run;
  }

  /** JSON of an item in a list: what lists give, of the document of a listing alone. */
  listed(item: number, view: ViewRequest): string {
    const place = wholePlace(this.#index, this.#index.counting(item), shapeOf(view));
    const document = place === undefined ? this.#little(item) : this.#read(place);
    return shown(document, view, false);
  }

  /** JSON of an item that is asked for singly: all that was kept of it in this shape, the latest first. */
  single(item: number, view: ViewRequest): string {
    const shape = shapeOf(view);
    const places = this.#index.counting(item).filter((place) => this.#index.about(place).shape === shape);
    const members = places.toReversed().flatMap((place) => Object.entries(this.#read(place)));
    const document = Object.fromEntries(members);
    return shown(places.length === 0 ? this.#little(item) : document, view, true);
  }

  /** What all documents of an item have: enough to know it, where a listing was not read or refused it. */
  #little(item: number): Document {
    const [latest] = this.#index.counting(item);
    if (latest === undefined) throw new TypeError("an item is served that there is no document of");
    const { id, updated_at } = this.#read(latest);
    return updated_at === undefined ? { id } : { id, updated_at };
  }

  close(): void {
    for (const rows of this.#open.values()) rows[Symbol.dispose]();
    this.#open.clear();
  }

  #read({ file, row }: RawPlace): Document {
    const rows = this.#open.get(file) ?? this.#opened(this.#index.files[file] ?? "");
    this.#open.delete(file);
    this.#open.set(file, rows);
    const [oldest] = this.#open;
    if (this.#open.size > FILES_OPEN && oldest !== undefined) {
      this.#open.delete(oldest[0]);
      oldest[1][Symbol.dispose]();
    }
    return rows.view(row).document;
  }

  /** Throws 503 where the run was pruned or replaced meanwhile: that an item is gone would be taken for a removal. */
  #opened(file: string): RawRows {
    try {
      return new RawRows(file);
    } catch (thrown) {
      if (codeOf(thrown) !== "ENOENT") throw thrown;
      const gone = `Run ${this.#run} was removed from the warehouse while it was served; serve another one.`;
      throw new HttpError(503, gone);
    }
  }
}

/** What the request asks for of the document, and what the contract does not know of it. */
function shown(document: Document, view: ViewRequest, isSingle: boolean): string {
  const members = Object.entries(document).filter(([name]) => isShown(name, view, isSingle));
  return JSON.stringify(Object.fromEntries(members));
}

function isShown(name: string, { detail, columns, gallery }: ViewRequest, isSingle: boolean): boolean {
  if (detail !== "dynamic") return detail === "full" || Object.hasOwn(BASIC_FIELDS, name);
  if (!isDynamicColumn(name)) return true;
  const { defaultSet, galleryOnly, singleItemOnly } = DYNAMIC_COLUMNS[name];
  if (defaultSet) return true;
  return columns.includes(name) && (gallery || !galleryOnly) && (isSingle || !singleItemOnly);
}
