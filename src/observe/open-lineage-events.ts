/** Run events of OpenLineage 2-0-2, as values. */
import { VERSION } from "../common/version.ts";
import type { EndedRun, StartedRun } from "./observer.ts";
import { testsOf } from "./open-lineage-checks.ts";
import { type Dataset, inputsOf, outputsOf } from "./open-lineage-datasets.ts";
import { facet, PRODUCER } from "./open-lineage-facets.ts";
import { uuidOf } from "./uuid.ts";

export interface LineageEvent {
  readonly eventType: "START" | "COMPLETE" | "FAIL";
  /** ISO 8601. */
  readonly eventTime: string;
  readonly run: { readonly runId: string; readonly facets: object };
  readonly job: { readonly namespace: string; readonly name: string; readonly facets: object };
  readonly inputs: readonly Dataset[];
  readonly outputs: readonly Dataset[];
  readonly producer: string;
  readonly schemaURL: string;
}

export function startEvent(run: StartedRun, namespace: string): LineageEvent {
  return eventOf(run, namespace, { eventType: "START", atMs: run.startedMs });
}

export function endEvent(run: StartedRun, ended: EndedRun, namespace: string): LineageEvent {
  if (ended.content === null) return failEvent(run, ended, namespace);
  const { content, endedMs } = ended;
  const test = facet("TestRunFacet", { tests: testsOf(content.checks) });
  return {
    ...eventOf(run, namespace, { eventType: "COMPLETE", atMs: endedMs, facets: { test } }),
    inputs: inputsOf(run, content),
    outputs: outputsOf(run, content),
  };
}

function failEvent(run: StartedRun, { outcome, endedMs }: FailedEnd, namespace: string): LineageEvent {
  const { message } = outcome;
  const errorMessage = facet("ErrorMessageRunFacet", { message, programmingLanguage: "TypeScript" });
  return eventOf(run, namespace, { eventType: "FAIL", atMs: endedMs, facets: { errorMessage } });
}

type FailedEnd = Extract<EndedRun, { readonly content: null }>;

interface Moment {
  readonly eventType: LineageEvent["eventType"];
  readonly atMs: number;
  /** Of the run. */
  readonly facets?: object;
}

function eventOf(run: StartedRun, namespace: string, { eventType, atMs, facets }: Moment): LineageEvent {
  return {
    eventType,
    eventTime: new Date(atMs).toISOString(),
    run: { runId: runIdOf(run), facets: { ...runFacets(run), ...facets } },
    job: { namespace, name: run.pipeline, facets: jobFacets(run) },
    inputs: [],
    outputs: [],
    producer: PRODUCER,
    schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
  };
}

/** A run that is resumed is another one to OpenLineage, where an end is final. */
function runIdOf({ run, instance, warehouse, startedMs }: StartedRun): string {
  return uuidOf(startedMs, JSON.stringify([instance, warehouse, run]));
}

function runFacets({ run }: StartedRun): object {
  return {
    processing_engine: facet("ProcessingEngineRunFacet", { name: "content-warehouse", version: VERSION }),
    tags: facet("TagsRunFacet", { tags: [{ key: "run", value: run, source: "content-warehouse" }] }),
  };
}

function jobFacets({ description }: StartedRun): object {
  return {
    jobType: facet("JobTypeJobFacet", {
      processingType: "BATCH",
      integration: "CONTENT_WAREHOUSE",
      jobType: "PIPELINE",
    }),
    ...(description !== "" && { documentation: facet("DocumentationJobFacet", { description }) }),
  };
}
