/** Reads responses and writes raw files. Runs in a worker thread, and knows neither threads nor network nor clock. */
import { release } from "../../common/free-memory.ts";
import { Secret } from "../../common/secret.ts";
import { Drift, type DriftEntry, tokenDrift } from "../../raw/drift.ts";
import type { PrepareSettings } from "../../raw/prepare.ts";
import { type RawDocument, RawFileWriter } from "../../raw/raw-file.ts";
import { indexDocuments } from "../../raw/raw-index.ts";
import { PartWriter } from "../../storage/parquet-file.ts";
import { decodeBytes } from "../http/decode.ts";
import { tooDeep } from "../http/source-error.ts";
import { type DocumentBatch, DocumentReader, type FingerprintSettings } from "../pages/documents.ts";
import type {
  CopyTask,
  GroupResult,
  ItemResult,
  ItemTask,
  LandingTask,
  PageResult,
  PageTask,
  ResponseBody,
} from "../pages/tasks.ts";
import { TokenRedactor } from "../pages/token-redactor.ts";

export interface LanderConfig extends PrepareSettings, FingerprintSettings {
  /** The API token, which is never written. It is a text because a {@link Secret} does not cross threads. */
  readonly token: string;
}

/** Documents that wait to be written together. */
interface DocumentUnit {
  readonly documents: RawDocument[];
  readonly drift: DriftEntry[];
  readonly fieldNames: string[];
  /** Bytes of the pages that the documents point into. */
  readonly bytes: Uint8Array[];
}

type LandingTaskOf<Kind extends LandingTask["kind"]> = Extract<LandingTask, { kind: Kind }>;

type Methods = {
  readonly [Kind in LandingTask["kind"]]: (task: LandingTaskOf<Kind> & { readonly kind: Kind }) => unknown;
};

/** Lands what tasks ask for, each kind by the method of its name. */
export default function performLanding(options: LanderConfig) {
  const methods: Methods = new Lander(options);
  return <Kind extends LandingTask["kind"]>(task: Parameters<Methods[Kind]>[0]) => methods[task.kind](task);
}

export class Lander {
  readonly #reader: DocumentReader;
  readonly #echoes: TokenRedactor;
  readonly #units = new Map<number, DocumentUnit>();
  readonly #raw = new RawFileWriter(new PartWriter());

  constructor(options: LanderConfig) {
    this.#reader = new DocumentReader(options, options);
    this.#echoes = new TokenRedactor(new Secret(options.token));
  }

  /** Reads a page; its documents wait to be written. Of a page that cannot be read, nothing is kept. */
  page(task: PageTask): PageResult {
    const { bytes } = task.body;
    const { decoded, echoes } = this.#decoded(task.body);
    const decodedBytes = decoded.length;
    const read = orTooDeep(() => this.#reader.page(task, decoded));
    if (decoded.buffer !== bytes.buffer) release(bytes);
    if (task.lands) this.#land(task.unit, read, echoes).bytes.push(decoded);
    else release(decoded);
    const { pagination, rows, items, rejects } = read;
    return { pagination, rows, items, rejects, decodedBytes };
  }

  /** Reads the response for a single item. A document of another item is a reject. */
  item(task: ItemTask): ItemResult {
    const { decoded, echoes } = this.#decoded(task.body);
    const read = orTooDeep(() => this.#reader.item(task, decoded.toString(), echoes));
    if (task.lands) this.#land(task.unit, read, []);
    return { updatedAt: read.items[0]?.updatedAt, rejects: read.rejects };
  }

  /** Lands documents of an earlier run. */
  copy(task: CopyTask): undefined {
    for (const { raw, drift, unit } of this.#reader.copies(task))
      this.#land(unit, { raw: [raw], drift, fieldNames: new Set() }, []);
  }

  #land(
    number: number,
    { raw, fieldNames, drift }: Pick<DocumentBatch, "raw" | "fieldNames" | "drift">,
    echoes: readonly DriftEntry[],
  ): DocumentUnit {
    const unit = this.#units.get(number) ?? { documents: [], drift: [], fieldNames: [], bytes: [] };
    this.#units.set(number, unit);
    unit.documents.push(...raw);
    unit.drift.push(...echoes, ...drift.take());
    unit.fieldNames.push(...fieldNames);
    return unit;
  }

  /** The text of a body, with the token removed. */
  #decoded({ bytes, ...declared }: ResponseBody): { decoded: Buffer; echoes: readonly DriftEntry[] } {
    const decoded = decodeBytes({ body: bytes, ...declared });
    const redacted = this.#echoes.redact(decoded);
    if (redacted === undefined) return { decoded, echoes: [] };
    release(decoded);
    return { decoded: redacted.bytes, echoes: tokenDrift(redacted.texts) };
  }

  write({ units: numbers, rawFile }: LandingTaskOf<"write">): GroupResult {
    const units = numbers.flatMap((number) => this.#units.get(number) ?? []);
    for (const number of numbers) this.#units.delete(number);
    const drift = new Drift();
    for (const entry of units.flatMap((unit) => unit.drift)) drift.add(entry);
    const documents = units
      .flatMap((unit) => unit.documents)
      .sort((a, b) => a.page - b.page || a.position - b.position);
    const file = documents.length === 0 ? null : this.#raw.write(rawFile, documents);
    for (const { bytes } of units) for (const page of bytes) release(page);
    return {
      file,
      indexed: file && indexDocuments(documents),
      drift: drift.take(),
      fieldNames: [...new Set(units.flatMap((unit) => unit.fieldNames))],
    };
  }
}

/** Reports a stack overflow as what causes it: JSON that is nested too deeply. */
function orTooDeep<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (thrown) {
    throw thrown instanceof RangeError ? tooDeep() : thrown;
  }
}
