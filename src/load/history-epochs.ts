/**
 * Finds the causes of changed values. The mapping steps run again with one family of definitions as it was: if the result
 * differs, a change in this family is a cause.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, execute, toSafeInteger } from "../storage/duckdb.ts";
import { fillMarks, quoteIdentifier } from "../storage/sql-text.ts";
import {
  DEFINITION_HISTORIES,
  type DefinitionFamily,
  type DefinitionHistory,
  definitionColumns,
} from "./history-definitions.ts";
import { loadSql } from "./load-sql.ts";

const FAMILIES: readonly DefinitionFamily[] = ["destination", "mapping", "definition"];

/** Mapping results with the definitions of earlier epochs: spans of runs between which no definition changed. */
export class MappingEpochs {
  readonly #connection: DuckDBConnection;
  readonly #prepared = new Set<number>();

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /** Creates the table that `#prepare` adds to. */
  async begin(): Promise<void> {
    await execute(
      this.#connection,
      "CREATE OR REPLACE TEMP TABLE history_mapped_before (epoch INTEGER, custom_field_id VARCHAR)",
    );
  }

  /** Fills the temporary table `history_effects` from the questions in `history_questions`. */
  async ask(): Promise<void> {
    const create = "CREATE OR REPLACE TEMP TABLE history_effects (question VARCHAR, family VARCHAR)";
    await execute(this.#connection, create);
    const epochs = await all(this.#connection, "SELECT DISTINCT epoch FROM history_questions ORDER BY epoch");
    for (const row of epochs) await this.#askOf(toSafeInteger(row.epoch ?? null));
  }

  async #askOf(epoch: number): Promise<void> {
    if (!this.#prepared.has(epoch)) await this.#prepare(epoch);
    this.#prepared.add(epoch);
    for (const family of FAMILIES) {
      const effects = fillMarks(loadSql("history_effects"), {
        targets: tableOf("mapping_targets", epoch, family),
        inputs: tableOf("mapping_inputs", epoch, family),
        answers: tableOf("mapping_answers", epoch, family),
        mapped_values: loadSql("mapped_values"),
      });
      const sql = `INSERT INTO history_effects SELECT question, '${family}' FROM (${effects})`;
      await execute(this.#connection, sql, [null, null, epoch]);
    }
  }

  /** Makes the tables that the mapping steps read, for each family as it was in the epoch. */
  async #prepare(epoch: number): Promise<void> {
    for (const family of FAMILIES) {
      const asOf = DEFINITION_HISTORIES.filter((each) => each.family === family).map((each) =>
        tableAsOf(each, epoch),
      );
      const targets = `mapping_targets AS (FROM ${tableOf("mapping_targets", epoch, family)})`;
      await this.#make("mapping_targets", epoch, family, asOf);
      await this.#make("mapping_inputs", epoch, family, asOf);
      await this.#make("mapping_answers", epoch, family, [...asOf, targets]);
    }
    const mappings = DEFINITION_HISTORIES.filter(({ of }) => of === "custom_field_mappings");
    await execute(
      this.#connection,
      `INSERT INTO history_mapped_before WITH ${mappings.map((each) => tableAsOf(each, epoch)).join(", ")} ` +
        `SELECT DISTINCT ${epoch}, custom_field_id FROM custom_field_mappings WHERE destination_id IS NOT NULL`,
    );
  }

  async #make(
    step: string,
    epoch: number,
    family: DefinitionFamily,
    tables: readonly string[],
  ): Promise<void> {
    const name = tableOf(step, epoch, family);
    const sql = `CREATE OR REPLACE TEMP TABLE ${name} AS WITH ${tables.join(", ")} SELECT * FROM (\n${loadSql(step)}\n)`;
    await execute(this.#connection, sql);
  }
}

function tableOf(step: string, epoch: number, family: DefinitionFamily): string {
  return quoteIdentifier(`history_${step}_${epoch}_${family}`);
}

/** Common table expression with a table's name, and its rows as they were in an epoch. */
function tableAsOf({ history, of }: DefinitionHistory, epoch: number): string {
  const columns = definitionColumns(history).map(quoteIdentifier).join(", ");
  return `${quoteIdentifier(of)} AS (
    SELECT ${columns}
    FROM ${quoteIdentifier(history.name)} AS history
    JOIN history_runs AS first ON first.run = history.valid_from_run
    LEFT JOIN history_runs AS after ON after.run = history.valid_to_run
    WHERE first.sequence <= ${epoch} AND (after.sequence IS NULL OR after.sequence > ${epoch})
  )`;
}
