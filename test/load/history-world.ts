import type { DuckDBConnection } from "@duckdb/node-api";
import { fillHistory, type HistoryRun } from "../../src/load/history.ts";
import type { PreviousHistory } from "../../src/load/history-previous.ts";
import { fillDerivedTables } from "../../src/load/mapped-values.ts";
import { createHistoryMacros } from "../../src/load/views.ts";
import { createTable } from "../../src/storage/ddl.ts";
import { all, execute, type QueryRow } from "../../src/storage/duckdb.ts";
import type { DatabaseConnections } from "../../src/storage/parallel.ts";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import { HISTORY_TABLES } from "../../src/tables/history.ts";
import { runName } from "../../src/warehouse/layout.ts";
import { emptyTables, fillTables, type MappingWorld, mappingLanes } from "./mapping-tables.ts";

/** One night, as the steps of the history are given it. */
export interface Night {
  readonly world: MappingWorld;
  readonly sequence: number;
  readonly startedAt: Date;
  readonly verdict: "complete" | "unsettled";
  /** The run that is current; undefined: none, or none whose history can be carried on. */
  readonly previous: string | undefined;
  readonly confirmed?: ReadonlySet<string>;
  readonly unread?: ReadonlySet<string>;
  readonly listIsWhole?: boolean;
  readonly lookedUp?: (customFieldId: string) => boolean;
  readonly rowsPerRange?: number;
  /** Items that begin a bucket; none: all in one. */
  readonly itemBounds?: readonly string[];
  readonly passthrough?: boolean;
}

/** Runs nights in one database in memory, each from the history of an earlier one. */
export class Nights {
  readonly connection: DuckDBConnection;
  readonly #lanes: DatabaseConnections;

  private constructor(lanes: DatabaseConnections) {
    this.connection = lanes[0];
    this.#lanes = lanes;
  }

  static async open(): Promise<Nights> {
    const lanes = await mappingLanes();
    const [connection] = lanes;
    for (const lane of lanes) await lane.run("SET TimeZone = 'UTC'");
    for (const table of HISTORY_TABLES) await createTable(connection, table);
    await createHistoryMacros(connection);
    await execute(connection, "CREATE TABLE run AS SELECT '[]' AS ignored_destinations");
    return new Nights(lanes);
  }

  async run(night: Night): Promise<void> {
    const { connection } = this;
    const { previous, verdict, passthrough = false } = night;
    await emptyTables(connection);
    await fillTables(connection, night.world);
    for (const { customFieldId } of night.world.fields) {
      if (night.lookedUp?.(customFieldId) !== false) continue;
      const sql = "UPDATE custom_fields SET from_lookup = false WHERE custom_field_id = $1";
      await execute(connection, sql, [customFieldId]);
    }
    for (const { name } of HISTORY_TABLES) await execute(connection, `TRUNCATE ${quoteIdentifier(name)}`);
    const itemBounds = night.itemBounds ?? [];
    await fillDerivedTables(this.#lanes, { passthrough, rowsPerRange: 300_000, itemBounds });
    await fillHistory(this.#lanes, {
      run: runOf(night),
      passthrough,
      previous: this.#previous(previous),
      absences: {
        confirmed: night.confirmed ?? new Set(),
        unread: night.unread ?? new Set(),
        listIsWhole: night.listIsWhole ?? verdict === "complete",
      },
      itemBounds,
      rowsPerRange: night.rowsPerRange ?? 600_000,
    });
    for (const { name } of HISTORY_TABLES) {
      const kept = quoteIdentifier(keptName(name, runOf(night).run));
      await execute(connection, `CREATE OR REPLACE TABLE ${kept} AS FROM ${quoteIdentifier(name)}`);
    }
  }

  #previous(run: string | undefined): PreviousHistory {
    if (run === undefined) return { kind: "none" };
    const sourceOf = (table: string) => quoteIdentifier(keptName(table, run));
    return {
      kind: "carried",
      run,
      access: "",
      sourceOf,
      forgotten: [],
      personalData: { policy: "drop", keyId: null, customFieldIds: [] },
    };
  }

  rows(sql: string): Promise<QueryRow[]> {
    return all(this.connection, sql);
  }
}

const keptName = (table: string, run: string): string => `${table} of ${run}`;

function runOf({ sequence, startedAt, verdict }: Night): HistoryRun {
  return {
    run: runName(sequence, startedAt),
    sequence,
    startedAt,
    extractedMs: startedAt.getTime() + 60_000,
    pipeline: "nightly",
    verdict,
    packageVersion: "0.0.0",
  };
}
