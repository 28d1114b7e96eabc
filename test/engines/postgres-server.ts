/** A PostgreSQL server of a test's own, on a Unix socket in a temporary folder. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";

export interface PostgresServer extends AsyncDisposable {
  /** For a program that is to connect as a user. */
  env(user: string): Readonly<Record<string, string>>;
  connect(user?: string, database?: string): Promise<Client>;
}

const SUPERUSER = "postgres";
const VERSIONS = "/usr/lib/postgresql";

/** Folder of the server's programs. A server that is not there is a failure: nothing is left out. */
async function programs(): Promise<string> {
  const versions = await readdir(VERSIONS).catch((): string[] => []);
  const newestFirst = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((each) => join(VERSIONS, each, "bin"));
  const folder = [...newestFirst, "/usr/local/bin"].find((each) => existsSync(join(each, "initdb")));
  return folder ?? assert.fail(`There is no PostgreSQL in ${VERSIONS} or /usr/local/bin: install it.`);
}

/** Who the server runs as: it refuses to run as root. */
function ordinaryUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

export async function startPostgres(): Promise<PostgresServer> {
  const bin = await programs();
  const folder = await mkdtemp(join(tmpdir(), "postgres-"));
  const user = ordinaryUser();
  await chmod(folder, 0o755);
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const setting = { cwd: folder, ...user };
  const flags = ["-A", "trust", "-U", SUPERUSER, "-E", "UTF8", "--no-locale", "--no-sync"];
  execFileSync(join(bin, "initdb"), ["-D", data, ...flags], { ...setting, stdio: "pipe" });
  const server = spawn(
    join(bin, "postgres"),
    ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
    { ...setting, stdio: ["ignore", "ignore", "pipe"] },
  );
  const exit = once(server, "exit");
  const log: string[] = [];
  const ready = new Promise<void>((resolve) => {
    createInterface(server.stderr).on("line", (line) => {
      log.push(line);
      if (line.includes("ready to accept connections")) resolve();
    });
  });
  await Promise.race([ready, exit.then(() => assert.fail(`PostgreSQL did not start:\n${log.join("\n")}`))]);
  return {
    env: (user) => ({ PGHOST: folder, PGUSER: user, PGDATABASE: "postgres" }),
    connect: async (user = SUPERUSER, database = "postgres") => {
      const client = new Client({ host: folder, user, database });
      await client.connect();
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      server.kill("SIGINT");
      await exit;
      await rm(folder, { recursive: true });
    },
  };
}
