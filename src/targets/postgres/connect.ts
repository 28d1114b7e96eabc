/** Connections to PostgreSQL, and what its failures mean. */
import type { Client, DatabaseError } from "pg";
import type { CopyStreamQuery } from "pg-copy-streams";
import { codeOf, type ErrorCode, WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";

/** Optional peers: only who delivers to PostgreSQL needs them. A test holds that package.json says the same versions. */
export const POSTGRES_PEERS = ["pg@8.23.1", "pg-copy-streams@7.0.0"] as const;

const CONNECT_MS = 30_000;

export interface Connection {
  readonly client: Client;
  readonly copyFrom: (sql: string) => CopyStreamQuery;
}

/**
 * Connects, with the password from PGPASSWORD or PGPASSFILE. Whoever connects ends the connection. Throws
 * `config.invalid` where the packages are not installed, else `target.*`.
 */
export async function connect(url: string): Promise<Connection> {
  const { Client, from } = await importPackages();
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "content-warehouse",
  });
  // A connection that is lost fails the next query.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SET standard_conforming_strings = on");
  } catch (thrown) {
    await client.end().catch(() => {});
    throw postgresError(thrown, client);
  }
  return { client, copyFrom: from };
}

/** Uses a connection and ends it; an open transaction is rolled back by that. */
export async function connected<Result>(
  url: string,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await connect(url);
  try {
    return await use(connection);
  } catch (thrown) {
    throw postgresError(thrown, connection.client);
  } finally {
    await connection.client.end().catch(() => {});
  }
}

async function importPackages() {
  try {
    const { Client } = (await import("pg")).default;
    const { from } = await import("pg-copy-streams");
    return { Client, from };
  } catch (cause) {
    if (codeOf(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new WarehouseError(
      "config.invalid",
      `PostgreSQL as a target needs packages that are not installed; install them with: npm install --global ${POSTGRES_PEERS.join(" ")} (without --global where content-warehouse is a dependency of a project).`,
      { cause },
    );
  }
}

type Meaning = readonly [code: ErrorCode, wayOut: string];

const AGAIN = "check that it runs and can be reached, and try again";
const CREDENTIALS: Meaning = [
  "target.refused",
  "check the user in `url`, and its password in PGPASSWORD or PGPASSFILE",
];
const FULL: Meaning = ["target.unavailable", "free space there, and try again"];

/** By SQLSTATE, or by its class. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  "08": ["target.unavailable", AGAIN],
  "28": CREDENTIALS,
  "3D": ["target.refused", "make the database, or name another in `url`"],
  "53": ["target.unavailable", "wait until it has room, and try again"],
  "53100": FULL,
  "57P": ["target.unavailable", AGAIN],
  "42501": [
    "target.refused",
    "GRANT CREATE ON DATABASE to the user of `url`, which must own the schemas that it replaces",
  ],
};
const UNKNOWN: Meaning = ["target.refused", "correct that there, and try again"];

/** Whatever a query throws, as a sentence that names the database; credentials are in none. */
export function postgresError(thrown: unknown, { host, database }: Client): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const [code, wayOut] = meaningOf(thrown);
  const why = printable(thrown instanceof Error ? reasonOf(thrown) : String(thrown), 300);
  const place = `${host}/${database ?? ""}`;
  return new WarehouseError(code, `PostgreSQL at ${place} failed: ${why.replace(/\.$/, "")}; ${wayOut}.`, {
    cause: thrown,
  });
}

/** What has no SQLSTATE did not come from the server: the connection is at fault, or the password that is not there. */
function meaningOf(thrown: unknown): Meaning {
  if (!isDatabaseError(thrown)) {
    const isPassword = thrown instanceof Error && /password/i.test(thrown.message);
    return isPassword ? CREDENTIALS : ["target.unavailable", AGAIN];
  }
  const { code = "" } = thrown;
  return MEANINGS[code] ?? MEANINGS[code.slice(0, 3)] ?? MEANINGS[code.slice(0, 2)] ?? UNKNOWN;
}

export function isDatabaseError(thrown: unknown): thrown is DatabaseError {
  return thrown instanceof Error && /^[0-9A-Z]{5}$/.test(codeOf(thrown) ?? "") && "severity" in thrown;
}

/** Where several addresses of a host were tried, the first failure says enough. */
function reasonOf(error: Error): string {
  const [first] = error instanceof AggregateError ? error.errors : [];
  return first instanceof Error ? first.message : error.message;
}
