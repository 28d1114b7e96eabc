/** The fleet's PostgreSQL: its optional packages, its failures, and the table that may hold the instances. */
import { codeOf, WarehouseError } from "../common/errors.ts";
import { importPeers } from "../common/import-module.ts";
import { clauseOf, printable } from "../common/printable.ts";
import { invalid } from "../config/faults.ts";

/** Optional peers: only a fleet with a database needs them. A test holds that package.json says the same versions. */
export const PG_BOSS = "pg-boss@12.38.0";
export const PG = "pg@8.23.1";

/** Of each connection: a server that says nothing is one that cannot be used, for now. Lock waits are seconds. */
export const LIMITS = { connectionTimeoutMillis: 30_000, query_timeout: 60_000, keepAlive: true } as const;

export const WHO = "The database of a fleet";

/** SQLSTATE classes of what a person has to correct: credentials, a missing database or table, missing rights. */
const REFUSED = /^(28|3D|42)/;

/** `config.invalid`, or `queue.unavailable` where the database may answer later. */
export function databaseError(address: string, thrown: unknown): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const code = codeOf(thrown);
  const why = thrown instanceof Error && thrown.message !== "" ? thrown.message : (code ?? "unknown reason");
  const where = `The fleet's database ${printable(address)}`;
  const shown = clauseOf(why);
  return code !== undefined && REFUSED.test(code)
    ? invalid(`${where} refuses: ${shown}; look at the fleet file and PGPASSWORD.`, thrown)
    : new WarehouseError(
        "queue.unavailable",
        `${where} cannot be used: ${shown}; start PostgreSQL, or correct \`postgres\`.`,
        { cause: thrown },
      );
}

/**
 * The rows of a table, as the fleet file would have them: columns are settings in snake case, NULL is left out, and other
 * columns are nobody's business. `table` is a plain name, with its schema or without.
 */
export async function readInstancesTable(
  address: string,
  table: string,
  settings: readonly string[],
): Promise<readonly object[]> {
  const { Client } = (await importPeers(WHO, [PG], () => import("pg"))).default;
  const client = new Client({ connectionString: address, ...LIMITS });
  client.on("error", () => {}); // A connection that is lost fails the query.
  try {
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY name`);
    return rows.map((row) => {
      const found = settings.map((setting) => [setting, row[columnOf(setting)] ?? undefined] as const);
      return Object.fromEntries(found.filter(([, value]) => value !== undefined));
    });
  } catch (thrown) {
    throw databaseError(address, thrown);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** `tokenFile` stands in `token_file`. */
function columnOf(setting: string): string {
  return setting.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
