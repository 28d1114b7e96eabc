import { join } from "node:path";
import type { TestContext } from "node:test";
import { Lander } from "../../../src/extract/landing/land-page.ts";
import type { GroupResult, PageTask } from "../../../src/extract/pages/tasks.ts";
import { ItemIndex } from "../../../src/raw/item-index.ts";
import { RawIndex } from "../../../src/raw/raw-index.ts";
import { loadPipeline, pipelineUrl } from "../../../src/transform/pipelines.ts";
import { GroupTransformer, type TransformOutput } from "../../../src/transform/transform-group.ts";
import { planGroups } from "../../../src/transform/transform-items.ts";
import { temporaryFolder } from "../../folders.ts";
import { DROP } from "../../policies.ts";

const PAGINATION = '{"previous":null,"next":null,"current":1,"per_page":9,"count":9,"pages":1}';
const PLACE = { kind: "page", lands: true, page: 1 } as const;
export const DYNAMIC = { ...PLACE, mode: "dynamic", pass: 1, unit: 1 } as const;
export const FULL = { ...PLACE, mode: "full", pass: 2, unit: 2 } as const;

/** What a thread lands, without the thread, and what the nightly pipeline makes of it. */
export class NightlyLanding {
  readonly directory: string;
  readonly lander = new Lander({
    ...DROP,
    token: "",
    details: "none",
    settings: "",
  });
  readonly index = new RawIndex(new ItemIndex());
  #files = 0;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async in(t: TestContext): Promise<NightlyLanding> {
    return new NightlyLanding(await temporaryFolder(t));
  }

  /** Writes documents into a file of their own. */
  write(unit: number): GroupResult & { readonly rawFile: string } {
    const rawFile = join(this.directory, `${this.#files++}.parquet`);
    const result = this.lander.write({ kind: "write", units: [unit], rawFile });
    if (result.indexed !== null) this.index.add(rawFile, result.indexed);
    return { ...result, rawFile };
  }

  /** Transforms all that was written. */
  async transformed(): Promise<TransformOutput> {
    const pipeline = await loadPipeline(pipelineUrl("nightly", this.directory));
    const transformer = new GroupTransformer(pipeline, {
      directory: join(this.directory, "parts"),
      thread: 0,
    });
    for (const group of planGroups(this.index, () => false)) transformer.group(group);
    return transformer.flush();
  }
}

/** Body of a page with these documents, as JSON. */
export function bodyOf(...documents: string[]): PageTask["body"] {
  return body(`{"response":[${documents.join(",")}],"pagination":${PAGINATION}}`);
}

/** The same with the list at the end. */
export function turnedBodyOf(...documents: string[]): PageTask["body"] {
  return body(`{"pagination":${PAGINATION},"response":[${documents.join(",")}]}`);
}

function body(text: string): PageTask["body"] {
  return {
    bytes: Buffer.from(text),
    contentEncoding: null,
    contentType: null,
    observedAt: 1_000_000,
    dated: true,
  };
}
