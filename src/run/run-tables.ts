/** Rows of the run's own tables. */

import { hash } from "node:crypto";
import type { Accounting, Check } from "../audit/checks/checks.ts";
import type { Loaded } from "../audit/checks/inspect.ts";
import type { Requests } from "../extract/http/requests.ts";
import type { Throttled } from "../extract/http/throttle.ts";
import type { Reject } from "../extract/landing/checkpoint-form.ts";
import type { PassRecord } from "../extract/passes/pass-record.ts";
import type { RunRows } from "../load/build-warehouse.ts";
import type { DriftEntry } from "../raw/drift.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Table } from "../tables/declare.ts";
import { checks, drift, lineage, passes, rejects, requests, run, tablesTable } from "../tables/run.ts";

export interface RunFacts {
  readonly run: string;
  readonly sequence: number;
  readonly pipeline: string;
  readonly instanceUrl: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly endedMs: number;
  readonly verdict: "complete" | "unsettled";
  readonly reasons: readonly string[];
  readonly accounting: Accounting;
  readonly passthrough: boolean;
  /** Null: the service refused no request. */
  readonly throttled: Throttled | null;
  readonly personalData: string;
  readonly versions: { readonly package: string; readonly duckdb: string; readonly node: string };
}

const micros = (milliseconds: number): number => Math.floor(milliseconds * 1000);

export function runRows(facts: RunFacts): RunRows {
  const { accounting, throttled, versions } = facts;
  return {
    table: run,
    rows: [
      [
        facts.run,
        facts.sequence,
        facts.pipeline,
        facts.instanceUrl,
        micros(facts.startedMs),
        micros(facts.endedMs),
        facts.verdict,
        facts.reasons.length === 0 ? null : facts.reasons.join("; "),
        accounting.listed,
        accounting.loaded,
        accounting.rejected,
        accounting.vanished,
        accounting.unread,
        facts.passthrough,
        throttled?.refused ?? 0,
        throttled?.ratePerSecond ?? null,
        facts.personalData,
        versions.package,
        versions.duckdb,
        versions.node,
      ],
    ],
  };
}

export function passRows(records: readonly PassRecord[]): RunRows {
  return {
    table: passes,
    rows: records.map((record) => [
      record.pass,
      record.mode,
      record.pages,
      record.perPage,
      record.pagesAnnounced,
      record.rows,
      record.distinctItems,
      record.duplicates,
      record.countBefore,
      record.countAfter,
      record.digest,
      record.clean,
      record.reason,
      micros(record.startedMs),
      micros(record.endedMs),
    ]),
  };
}

export function requestRows(records: Requests): RunRows {
  return { table: requests, rows: { [Symbol.iterator]: () => rowsOfRequests(records) } };
}

function* rowsOfRequests(records: Requests): Generator<readonly Cell[]> {
  let number = 0;
  for (const record of records.inOrder()) {
    number += 1;
    yield [
      number,
      record.mode,
      record.pass,
      record.page,
      record.nextPage,
      record.previousPage,
      record.contentId,
      record.status,
      record.attempts,
      record.bytes,
      Math.round(record.milliseconds * 1000) / 1000,
      record.observedAt,
      record.sha256,
    ];
  }
}

export function rejectRows(found: readonly Reject[]): RunRows {
  const ordered = found.toSorted((a, b) => a.pass - b.pass || a.page - b.page || a.position - b.position);
  return {
    table: rejects,
    rows: ordered.map((reject, i) => [
      i + 1,
      reject.mode,
      reject.pass,
      reject.page,
      reject.position,
      reject.contentId,
      reject.reason,
      reject.document,
      hash("sha256", reject.document),
    ]),
  };
}

export function driftRows(entries: readonly DriftEntry[]): RunRows {
  return {
    table: drift,
    rows: entries.map((entry) => [entry.path, entry.kind, entry.count, entry.contentId, entry.example]),
  };
}

export function checkRows(made: readonly Check[]): RunRows {
  return {
    table: checks,
    rows: made.map((check) => [check.name, check.verdict, check.figure, check.expected, check.detail]),
  };
}

/** `parquet`: whether the Parquet files are published. */
export function tableRows(loaded: Loaded, parquet: boolean): RunRows {
  return {
    table: tablesTable,
    rows: loaded.tables.map(({ table, rows, files }): Cell[] => [
      table,
      rows,
      parquet ? files.length : 0,
      parquet ? (loaded.parquetBytes.get(table) ?? 0) : 0,
    ]),
  };
}

export function lineageRows(tables: readonly Table[]): RunRows {
  return {
    table: lineage,
    rows: tables.flatMap((table) =>
      table.columns.flatMap((column) =>
        column.origins.map((origin) => [table.name, column.name, origin.resource, origin.path]),
      ),
    ),
  };
}
