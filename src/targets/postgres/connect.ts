/** Connections to PostgreSQL, and what its failures mean. */
import { addAbortSignal } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Client, DatabaseError } from "pg";
import { codeOf, type ErrorCode, WarehouseError } from "../../common/errors.ts";
import { importPeers } from "../../common/import-module.ts";
import { clauseOf } from "../../common/printable.ts";

/** Optional peers: only who delivers to PostgreSQL needs them. A test holds that package.json says the same versions. */
export const POSTGRES_PEERS = ["pg@8.23.1", "pg-copy-streams@7.0.0"] as const;

const CONNECT_MS = 30_000;
/** Many times what a swap waits for readers, 200 ms a table, and longer than a standby takes to become the primary. */
const ANSWER_MS = 60_000;
/** For a table's index, for the commit, and between two rows that are taken: many times what a slow server needs. */
const WORK_MS = 15 * 60_000;
/** A peer that went away without a word is noticed ten seconds after so much silence. */
const KEEP_ALIVE_MS = 30_000;

export type PostgresConnection = Awaited<ReturnType<typeof connect>>;

/**
 * Connects, with the password from PGPASSWORD or PGPASSFILE. Once the signal is aborted the connection is destroyed: what
 * is under way fails then, and the server rolls it back. Whoever connects ends it. Throws the signal's reason,
 * `config.invalid` where the packages are not installed, else `target.*`; what the methods throw is for `failure`.
 */
export async function connect(url: string, signal: AbortSignal) {
  const [pg, { from }] = await importPeers(
    "PostgreSQL as a target",
    POSTGRES_PEERS,
    async () => [(await import("pg")).default, await import("pg-copy-streams")] as const,
  );
  signal.throwIfAborted();
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: "content-warehouse",
  });
  // A connection that is lost fails the next query.
  client.on("error", () => {});
  addAbortSignal(signal, client.connection.stream);
  const connection = {
    signal,
    /** For what takes no longer the more rows there are. A server that is silent for a minute loses the connection. */
    ask: (text: string, values: readonly unknown[] = []) =>
      inTime(client, ANSWER_MS, () => client.query(text, [...values])),
    /** For what takes longer with more rows: it has a quarter of an hour. */
    perform: (text: string) => inTime(client, WORK_MS, () => client.query(text)),
    /** `COPY ... FROM STDIN`, with its lines. A server that takes none for a quarter of an hour loses the connection. */
    copy: (text: string, lines: AsyncIterable<string>) =>
      inTime(client, WORK_MS, (onMove) => pipeline(noted(lines, onMove), client.query(from(text)))),
    /** Does a work within the open transaction, or gives why it was refused, by its SQLSTATE: then it is undone. */
    trying: <Result>(codes: RegExp, work: () => Promise<Result>) =>
      trying((text) => inTime(client, ANSWER_MS, () => client.query(text)), codes, work),
    /** Rolls an open transaction back. Never fails. */
    end: () => inTime(client, ANSWER_MS, () => client.end()).catch(() => {}),
    /** The signal's reason, or `target.*`. */
    failure: (thrown: unknown): unknown => (signal.aborted ? signal.reason : postgresError(thrown, client)),
  };
  try {
    await client.connect();
    await connection.ask("SET standard_conforming_strings = on");
  } catch (thrown) {
    await connection.end();
    throw connection.failure(thrown);
  }
  return connection;
}

/** What the server does not take. */
export type Refusal = Pick<DatabaseError, "code" | "message">;

async function trying<Result>(
  ask: (text: string) => Promise<unknown>,
  codes: RegExp,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result } | { readonly refusal: Refusal }> {
  await ask("SAVEPOINT trying");
  try {
    const result = await work();
    await ask("RELEASE trying");
    return { result };
  } catch (thrown) {
    if (!isDatabaseError(thrown) || !codes.test(thrown.code ?? "")) throw thrown;
    await ask("ROLLBACK TO trying; RELEASE trying");
    return { refusal: thrown };
  }
}

/** Destroys the connection where the work neither moves nor ends for so long, or for twice that where it has moved. */
async function inTime<Answer>(
  { connection }: Client,
  limitMs: number,
  work: (onMove: () => void) => Promise<Answer>,
): Promise<Answer> {
  let hasMoved = false;
  let isLate = false;
  const timer = setInterval(() => {
    isLate = !hasMoved;
    hasMoved = false;
    if (isLate) connection.stream.destroy();
  }, limitMs);
  try {
    return await work(() => {
      hasMoved = true;
    });
  } catch (thrown) {
    throw isLate ? new Error(`it has not answered for ${limitMs / 1000} s`, { cause: thrown }) : thrown;
  } finally {
    clearInterval(timer);
  }
}

async function* noted<Element>(elements: AsyncIterable<Element>, onEach: () => void) {
  for await (const element of elements) {
    onEach();
    yield element;
  }
}

/** Uses a connection and ends it; an open transaction is rolled back by that. */
export async function withConnection<Result>(
  url: string,
  signal: AbortSignal,
  use: (connection: PostgresConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await connect(url, signal);
  try {
    return await use(connection);
  } catch (thrown) {
    throw connection.failure(thrown);
  } finally {
    await connection.end();
  }
}

type Remedy = readonly [code: ErrorCode, wayOut: string];

const AGAIN = "check that it runs and can be reached, and try again";
const CREDENTIALS: Remedy = [
  "target.refused",
  "check the user in `url`, and its password in PGPASSWORD or PGPASSFILE",
];
const FULL: Remedy = ["target.unavailable", "free space there, and try again"];

/** By SQLSTATE, or by its class. */
const MEANINGS: Readonly<Record<string, Remedy>> = {
  "08": ["target.unavailable", AGAIN],
  "28": CREDENTIALS,
  "3D": ["target.refused", "make the database, or name another in `url`"],
  "53": ["target.unavailable", "wait until it has room, and try again"],
  "53100": FULL,
  "57P": ["target.unavailable", AGAIN],
  "42P06": ["target.refused", "deliveries need that name: rename or drop it, or name another in `schema`"],
  "42501": [
    "target.refused",
    "GRANT CREATE ON DATABASE to the user of `url`, which must own the schemas that it replaces",
  ],
};
const UNKNOWN: Remedy = ["target.refused", "correct that there, and try again"];

/** Whatever a query throws, as a sentence that names the database; credentials are in none. */
function postgresError(thrown: unknown, { host, port, database }: Client): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const [code, wayOut] = meaningOf(thrown);
  const why = clauseOf(thrown instanceof Error ? reasonOf(thrown) : thrown);
  const place = `${host}:${port}/${database ?? ""}`;
  return new WarehouseError(code, `PostgreSQL at ${place} failed: ${why}; ${wayOut}.`, {
    cause: thrown,
  });
}

/** What has no SQLSTATE did not come from the server: the connection is at fault, or the password that is not there. */
function meaningOf(thrown: unknown): Remedy {
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
