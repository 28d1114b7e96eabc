/** Reads responses and writes raw files. Runs in a worker thread, and knows neither threads nor network nor clock. */
import { release } from "../../common/free-memory.ts";
import { Secret } from "../../common/secret.ts";
import { Drift, type DriftEntry, tokenDrift } from "../../raw/drift.ts";
import { type RawDocument, RawFileWriter } from "../../raw/raw-file.ts";
import { indexDocuments } from "../../raw/raw-index.ts";
import { PartWriter } from "../../storage/parquet-file.ts";
import { decodeBytes } from "../http/decode.ts";
import { tooDeep } from "../http/source-error.ts";
import { DocumentReader, type ReaderConfig } from "../pages/documents.ts";
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

export interface LanderConfig extends ReaderConfig {
  /** The API token, which is never written. It is a text because a {@link Secret} does not cross threads. */
  readonly token: string;
}

/** Documents of a response that wait to be written. */
interface WaitingDocuments {
  readonly raw: readonly RawDocument[];
  readonly fieldNames?: ReadonlySet<string>;
  readonly instanceIds?: ReadonlySet<string>;
  readonly drift: readonly DriftEntry[];
  /** The page that the documents point into, if they do. */
  readonly bytes?: Uint8Array;
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
  /** By unit. */
  readonly #waiting = new Map<number, WaitingDocuments[]>();
  readonly #raw = new RawFileWriter(new PartWriter());

  constructor(options: LanderConfig) {
    this.#reader = new DocumentReader(options);
    this.#echoes = new TokenRedactor(new Secret(options.token));
  }

  /** Reads a page; its documents wait to be written. Of a page that cannot be read, nothing is kept. */
  page(task: PageTask): PageResult {
    const { bytes } = task.body;
    const { decoded, echoes } = this.#decoded(task.body);
    const decodedBytes = decoded.length;
    const read = orTooDeep(() => this.#reader.page(task, decoded));
    if (decoded.buffer !== bytes.buffer) release(bytes);
    const { pagination, rows, items, rejects, raw, drift, ...names } = read;
    if (task.lands)
      this.#wait(task.unit, { ...names, raw, drift: [...echoes, ...drift.take()], bytes: decoded });
    else release(decoded);
    return { pagination, rows, items, rejects, decodedBytes };
  }

  /** Reads the response for a single item. A document of another item is a reject. */
  item(task: ItemTask): ItemResult {
    const { decoded, echoes } = this.#decoded(task.body);
    const { items, rejects, raw, drift, ...names } = orTooDeep(() =>
      this.#reader.item(task, decoded.toString(), echoes),
    );
    if (task.lands) this.#wait(task.unit, { ...names, raw, drift: drift.take() });
    return { updatedAt: items[0]?.updatedAt, rejects };
  }

  /** Lands documents of an earlier run. */
  copy(task: CopyTask): undefined {
    for (const { raw, drift, unit } of this.#reader.copies(task))
      this.#wait(unit, { raw: [raw], drift: drift.take() });
  }

  #wait(unit: number, documents: WaitingDocuments): void {
    this.#waiting.set(unit, [...(this.#waiting.get(unit) ?? []), documents]);
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
    const waiting = numbers.flatMap((number) => this.#waiting.get(number) ?? []);
    for (const number of numbers) this.#waiting.delete(number);
    const drift = new Drift();
    for (const entry of waiting.flatMap((each) => each.drift)) drift.add(entry);
    const documents = waiting
      .flatMap(({ raw }) => raw)
      .sort((a, b) => a.page - b.page || a.position - b.position);
    const file = documents.length === 0 ? null : this.#raw.write(rawFile, documents);
    for (const { bytes } of waiting) if (bytes !== undefined) release(bytes);
    return {
      file,
      indexed: file && indexDocuments(documents),
      drift: drift.take(),
      fieldNames: [...new Set(waiting.flatMap(({ fieldNames = [] }) => [...fieldNames]))],
      instanceIds: [...new Set(waiting.flatMap(({ instanceIds = [] }) => [...instanceIds]))],
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
