/** A real proxy of a test's own: tinyproxy, on a free port. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { packagePath } from "../../src/common/package-root.ts";
import { temporaryFolder } from "../folders.ts";
import { freePort } from "./s3-server.ts";

export const USER = "night";
/** A password whose shape nothing else has. */
export const PASSWORD = "CANARY-PW-7d30af91";

export interface Tinyproxy {
  /** `http://127.0.0.1:PORT`, without credentials. */
  readonly url: string;
  /** With them. */
  readonly withPassword: string;
  readonly host: string;
  /** What it says of itself and of its requests, whole. */
  readonly log: () => Promise<string>;
  /** Hosts and ports that it was asked for a way to. */
  readonly asked: () => Promise<string[]>;
}

/** It opens ways to all hosts but `refused.example`, for who has the password. */
export async function startTinyproxy(t: TestContext): Promise<Tinyproxy> {
  const folder = await temporaryFolder(t, { refused: "^refused\\.example$\n" });
  const port = await freePort();
  const file = (name: string) => join(folder, name);
  const settings = [
    `Port ${port}`,
    "Listen 127.0.0.1",
    `BasicAuth ${USER} ${PASSWORD}`,
    `Filter "${file("refused")}"`,
    "FilterExtended On",
    `LogFile "${file("log")}"`,
    "LogLevel Connect",
    "Timeout 20",
  ];
  await writeFile(file("conf"), `${settings.join("\n")}\n`);
  const proxy = spawn("tinyproxy", ["-d", "-c", file("conf")], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [proxy.stdout, proxy.stderr]) stream.on("data", (text) => (said += text));
  const exit = once(proxy, "exit").catch((thrown: unknown) => {
    said += `tinyproxy is not there; install it (Debian: apt-get install tinyproxy). ${thrown}`;
  });
  t.after(async () => {
    proxy.kill("SIGTERM");
    await exit;
  });
  const ended = exit.then(() => true);
  while (!(await answersAt(port))) if (await Promise.race([ended, soon()])) assert.fail(said);
  const log = () => readFile(file("log"), "utf8");
  return {
    url: `http://127.0.0.1:${port}`,
    withPassword: `http://${USER}:${PASSWORD}@127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    log,
    asked: async () => Array.from((await log()).matchAll(/CONNECT (\S+) HTTP/g), ([, at = ""]) => at),
  };
}

const soon = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 20));

async function answersAt(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const answers = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return answers;
}

/** The certificate of {@link serveTls}, which is one's own authority too. */
export const CA = packagePath("test/extract/http/tls/localhost.pem");

/** TLS before a server that speaks plain HTTP: `https://localhost:PORT`. */
export async function serveTls(t: TestContext, plainUrl: string): Promise<string> {
  const key = await readFile(packagePath("test/extract/http/tls/key.pem"));
  const server = createTlsServer({ key, cert: await readFile(CA) }, (socket) => {
    const plain = connect(Number(new URL(plainUrl).port), "127.0.0.1");
    for (const each of [socket, plain]) {
      each.on("error", () => each.destroy());
      each.on("close", () => [socket, plain].map((both) => both.destroy()));
    }
    socket.pipe(plain).pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}
