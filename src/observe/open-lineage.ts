/** OpenLineage 2-0-2 run events: START when the run has its name, then COMPLETE or FAIL. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, rm } from "node:fs/promises";
import { Agent, ProxyAgent, request } from "undici";
import type { Check } from "../audit/checks/checks.ts";
import { codeOf } from "../common/errors.ts";
import { reachedBy } from "../common/network/proxy.ts";
import { printable } from "../common/printable.ts";
import { VERSION } from "../common/version.ts";
import type { EndedRun, Observer, StartedRun } from "./observer.ts";
import { assertedOutputsOf, facet, inputsOf, outputsOf, PRODUCER, testsOf } from "./open-lineage-facets.ts";
import type { HttpEndpoint, OpenLineageSettings } from "./settings.ts";

/** A run with the namespace of its job. */
type LineageRun = StartedRun & Pick<OpenLineageSettings, "namespace">;

/** A run that ended before it had a name (another one has the lock, the disk is full) is no run of the job. */
export function openLineageObserver({ to, namespace }: OpenLineageSettings): Observer {
  let started: LineageRun | undefined;
  const send = (event: object, signal: AbortSignal) => {
    const json = JSON.stringify(event);
    return "file" in to ? appendFile(to.file, `${json}\n`) : post(to, json, signal);
  };
  return {
    name: "`openLineage`",
    onEvent: () => {},
    onStart: (run, signal) => {
      started = { ...run, namespace };
      return send(eventOf(started, "START", run.startedMs), signal);
    },
    onEnd: async (ended, signal) => {
      if (started !== undefined) await send(endEvent(started, ended), signal);
    },
    check: (signal) => ("file" in to ? proveAppendable(to.file) : reach(to, signal).then(() => {})),
  };
}

/** Leaves no file where none was. */
async function proveAppendable(file: string): Promise<void> {
  const isThere = existsSync(file);
  await appendFile(file, "");
  if (!isThere) await rm(file);
}

/** Throws an Error that says what went wrong, and at which address. */
async function post(to: HttpEndpoint, body: string, signal: AbortSignal): Promise<void> {
  const status = await reach(to, signal, body);
  const { origin, pathname } = to.url;
  if (status < 200 || status > 299) throw new Error(`${origin}${pathname} answered with ${status}`);
}

/**
 * The status of the answer; without a body nothing is told, and any will do. Nothing is asked again, and no redirect
 * followed. Throws an Error that names the address.
 */
async function reach(
  { url, apiKey, proxy }: HttpEndpoint,
  signal: AbortSignal,
  body?: string,
): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "user-agent": `content-warehouse/${VERSION}`,
    ...(apiKey !== null && { authorization: `Bearer ${apiKey.reveal()}` }),
  };
  const dispatcher = proxy === null ? new Agent() : new ProxyAgent(proxy.url.reveal());
  try {
    const method = body === undefined ? "HEAD" : "POST";
    const response = await request(url, { method, headers, body: body ?? null, signal, dispatcher });
    await response.body.dump();
    return response.statusCode;
  } catch (cause) {
    signal.throwIfAborted();
    const code = codeOf(cause);
    // Of a proxy that opens no tunnel the words alone say what it answered.
    const why = code === undefined || code === "UND_ERR_ABORTED" ? printable(String(cause)) : code;
    throw new Error(`${reachedBy(url.origin, proxy)} cannot be reached (${why})`, { cause });
  } finally {
    await dispatcher.destroy();
  }
}

function endEvent(run: LineageRun, ended: EndedRun) {
  const { outcome, content, endedMs } = ended;
  if (content === null) {
    const { message } = outcome;
    const errorMessage = facet("ErrorMessageRunFacet", { message, programmingLanguage: "TypeScript" });
    const { checks } = ended;
    const facets = { errorMessage, ...(checks.length > 0 && testFacet(checks)) };
    return { ...eventOf(run, "FAIL", endedMs, facets), outputs: assertedOutputsOf(run, checks) };
  }
  return {
    ...eventOf(run, "COMPLETE", endedMs, testFacet(content.checks)),
    inputs: inputsOf(run, content),
    outputs: outputsOf(run, content, outcome.current.run === outcome.run),
  };
}

function testFacet(checks: readonly Check[]) {
  return { test: facet("TestRunFacet", { tests: testsOf(checks) }) };
}

/** `facets`: of the run, besides those that it always has. */
function eventOf(
  run: LineageRun,
  eventType: "START" | "COMPLETE" | "FAIL",
  atMs: number,
  facets: object = {},
) {
  return {
    eventType,
    eventTime: new Date(atMs).toISOString(),
    run: { runId: runIdOf(run), facets: { ...runFacets(run), ...facets } },
    job: { namespace: run.namespace, name: run.pipeline, facets: jobFacets(run) },
    inputs: [],
    outputs: [],
    producer: PRODUCER,
    schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
  };
}

/**
 * A UUID of version 7 with the time of the start, and a digest in place of chance: the same for the same run. A run that
 * is resumed is another one to OpenLineage, where an end is final.
 */
function runIdOf({ run, instance, warehouse, startedMs }: StartedRun): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.floor(startedMs), 0, 6);
  const text = JSON.stringify([instance, warehouse, run]);
  createHash("sha256").update(text).digest().copy(bytes, 6, 0, 10);
  bytes[6] = 0x70 | (bytes.readUInt8(6) & 0x0f);
  bytes[8] = 0x80 | (bytes.readUInt8(8) & 0x3f);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function runFacets({ run }: StartedRun) {
  return {
    processing_engine: facet("ProcessingEngineRunFacet", { name: "content-warehouse", version: VERSION }),
    tags: facet("TagsRunFacet", { tags: [{ key: "run", value: run, source: "content-warehouse" }] }),
  };
}

function jobFacets({ description }: StartedRun) {
  const jobType = { processingType: "BATCH", integration: "CONTENT_WAREHOUSE", jobType: "PIPELINE" };
  return {
    jobType: facet("JobTypeJobFacet", jobType),
    ...(description !== "" && { documentation: facet("DocumentationJobFacet", { description }) }),
  };
}
