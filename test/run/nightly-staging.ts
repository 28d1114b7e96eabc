import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { loadPipeline, pipelineUrl } from "../../src/transform/pipelines.ts";
import { Staging } from "../../src/run/staging.ts";
import type { PageTask } from "../../src/run/tasks.ts";

const PAGINATION = '{"previous":null,"next":null,"current":1,"per_page":9,"count":9,"pages":1}';
/** The first page of the first group. */
const PLACE = { kind: "page", lands: true, group: 0, firstPage: 1, page: 1 } as const;
export const DYNAMIC = { ...PLACE, mode: "dynamic", sweep: 1, pairWith: undefined } as const;
export const FULL = { ...PLACE, mode: "full", sweep: 2 } as const;

/** A thread's staging of the nightly pipeline, without the thread. */
export async function stagingIn(t: TestContext): Promise<{ staging: Staging; directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), "staging-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const staging = new Staging(await loadPipeline(pipelineUrl("nightly", directory)), {
    directory,
    worker: 0,
    policy: "drop",
    hashKey: undefined,
    aliases: {},
    limits: { decodedBytes: 40_000_000 },
    token: "",
  });
  return { staging, directory };
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
  return { bytes: Buffer.from(text), contentEncoding: null, observedAt: 1_000_000 };
}
