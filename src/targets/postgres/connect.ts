/** Connections to PostgreSQL, and descriptions of their failures. */
import { addAbortSignal } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Client, DatabaseError } from "pg";
import { z } from "zod";
import { codeOf, type ErrorCode, WarehouseError } from "../../common/errors.ts";
import { importPeers } from "../../common/import-module.ts";
import { invisibleClause } from "../../common/look-alike.ts";
import { nameOption } from "../../common/parse-form.ts";
import { clauseOf } from "../../common/printable.ts";

/** PostgreSQL takes 63 bytes; nine are left for the endings of the other schemas. */
const SCHEMA = /^(?!pg_|public$|information_schema$)[a-z_][a-z0-9_]{0,53}$/;

export const postgresOptions = z.strictObject({
  url: z
    .string()
    .superRefine((url, { addIssue }) => {
      const fault = urlFault(url);
      if (fault !== null) addIssue(fault);
    })
    .describe("postgres://user@host/database, without a password."),
  schema: z
    .string()
    .regex(SCHEMA, "expected a schema of its own: lower-case letters, digits and underscores, 54 at most")
    .optional()
    .describe('Schema that deliveries replace (default: "content_warehouse").'),
  name: nameOption.optional().describe('Name of the target (default: "postgres").'),
});

export type PostgresOptions = Readonly<z.input<typeof postgresOptions>>;

/** What is wrong with the URL of a database; `null` if nothing is. It does not repeat the URL, which may hold a password. */
function urlFault(text: string): string | null {
  const form = "expected an address such as postgres://user@host/database";
  const invisible = invisibleClause(text);
  if (invisible !== null) return `${form}, ${invisible}`;
  // `pg` takes a user without a host.
  const url = URL.parse(text.replace("@/", "@localhost/"));
  if (url === null || !/^postgres(ql)?:\/\//.test(url.href)) return form;
  if (url.password !== "" || url.searchParams.has("password"))
    return "has a password in it: leave it out, and set PGPASSWORD or PGPASSFILE";
  // A password that begins with digits and a slash reads as a port and a path.
  return (url.pathname + url.hash).includes("@") ? form : null;
}

/** Optional peer dependencies, in the newest versions tested. */
const POSTGRES_PEERS = ["pg@8.23.1", "pg-copy-streams@7.0.0"] as const;

const CONNECT_MS = 30_000;
/** Many times what a swap waits for readers, 200 ms a table, and longer than a standby takes to become the primary. */
const ANSWER_MS = 60_000;
/** For an index, for the commit, and between two rows of a COPY: many times what a slow server needs. */
const WORK_MS = 15 * 60_000;
/** Silence after which TCP checks whether the server is still there; that takes ten seconds. */
const KEEP_ALIVE_MS = 30_000;

export type PostgresConnection = Awaited<ReturnType<typeof connect>>;

/**
 * Connects with the password from PGPASSWORD or PGPASSFILE. Once the signal is aborted, the connection is destroyed: open
 * statements fail, and the server rolls back. The caller ends the connection. Throws the signal's reason, `config.package`
 * if the packages are not installed, else `target.*`. `failure` describes what its methods throw.
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
  // A lost connection fails the next query.
  client.on("error", () => {});
  addAbortSignal(signal, client.connection.stream);
  const connection = {
    signal,
    /** For statements whose time does not depend on the number of rows: one minute. */
    ask: (text: string, values: readonly unknown[] = []) =>
      withTimeout(client, ANSWER_MS, () => client.query(text, [...values])),
    /** For statements that take longer with more rows: a quarter of an hour. */
    perform: (text: string) => withTimeout(client, WORK_MS, () => client.query(text)),
    /** `COPY ... FROM STDIN` with its lines. Fails if the server takes no line for a quarter of an hour. */
    copy: (text: string, lines: AsyncIterable<string>) =>
      withTimeout(client, WORK_MS, (onMove) => pipeline(reportEach(lines, onMove), client.query(from(text)))),
    /** Ends the connection; the server rolls back an open transaction. Never fails. */
    end: () => withTimeout(client, ANSWER_MS, () => client.end()).catch(() => {}),
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

/** Destroys the connection if the work neither moves nor ends within the limit, or within twice the limit after a move. */
async function withTimeout<Answer>(
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

async function* reportEach<Element>(elements: AsyncIterable<Element>, onEach: () => void) {
  for await (const element of elements) {
    onEach();
    yield element;
  }
}

/** Uses a connection and ends it. */
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

type Remedy = readonly [code: ErrorCode, advice: string];

const AGAIN: Remedy = ["target.unavailable", "check that it runs and can be reached, and try again"];

/** By SQLSTATE, or by the beginning of one. */
const REMEDIES: Readonly<Record<string, Remedy>> = {
  "08": AGAIN,
  "28": ["target.refused", "check the user in `url`, and its password in PGPASSWORD or PGPASSFILE"],
  "3D": ["target.refused", "make the database, or name another in `url`"],
  "53": ["target.unavailable", "wait until it has room, and try again"],
  "53100": ["target.unavailable", "free space there, and try again"],
  "57P": AGAIN,
  "42P06": ["target.refused", "deliveries need that name: rename or drop it, or name another in `schema`"],
  "42501": [
    "target.refused",
    "GRANT CREATE ON DATABASE to the user of `url`, which must own the schemas that it replaces",
  ],
};

/**
 * A sentence that names the database, without credentials. An error without a SQLSTATE does not come from the server: the
 * connection failed, or the password is missing.
 */
function postgresError(thrown: unknown, { host, port, database }: Client): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  // If several addresses of a host were tried, the first failure is enough.
  const [first] = thrown instanceof AggregateError ? thrown.errors : [];
  const why = clauseOf(first instanceof Error ? first : thrown);
  const sqlState = isDatabaseError(thrown) ? (thrown.code ?? "") : /password/i.test(why) ? "28" : "08";
  const known = REMEDIES[sqlState] ?? REMEDIES[sqlState.slice(0, 3)] ?? REMEDIES[sqlState.slice(0, 2)];
  const [code, advice] = known ?? ["target.refused", "correct that there, and try again"];
  const place = `${host}:${port}/${database ?? ""}`;
  return new WarehouseError(code, `PostgreSQL at ${place} failed: ${why}; ${advice}.`, { cause: thrown });
}

export function isDatabaseError(thrown: unknown): thrown is DatabaseError {
  return thrown instanceof Error && /^[0-9A-Z]{5}$/.test(codeOf(thrown) ?? "") && "severity" in thrown;
}
