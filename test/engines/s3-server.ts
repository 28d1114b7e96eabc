/** An S3 server of a test's own: versitygw, on a free port, with a folder of its own. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";

const VERSION = "v1.8.0";
const CACHE = packagePath(`node_modules/.cache/versitygw-${VERSION}`);

export interface S3Server extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Credentials for a program that is to use it, or for this process. */
  readonly env: Readonly<Record<"AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" | "AWS_REGION", string>>;
  /** Folder whose files are the bucket's objects. */
  readonly folder: string;
}

/** Path of the server, which is built where it is not cached: a minute, once. */
export async function s3Program(): Promise<string> {
  const path = join(CACHE, "versitygw");
  if (existsSync(path)) return path;
  await mkdir(CACHE, { recursive: true });
  const env = { ...process.env, GOBIN: CACHE };
  const module = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`;
  try {
    await promisify(execFile)("go", ["install", module], { env });
  } catch (thrown) {
    assert.fail(`versitygw cannot be built: install Go. ${thrown}`);
  }
  return path;
}

export async function freePort(): Promise<number> {
  const server = createSocketServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** With one bucket. What the server says of itself is shown where it does not start. */
export async function startS3(): Promise<S3Server> {
  const path = await s3Program();
  const root = await mkdtemp(join(tmpdir(), "s3-server-"));
  const bucket = "warehouse";
  await mkdir(join(root, "data", bucket), { recursive: true });
  await mkdir(join(root, "metadata"));
  const port = await freePort();
  const env = {
    AWS_ACCESS_KEY_ID: randomBytes(10).toString("hex").toUpperCase(),
    AWS_SECRET_ACCESS_KEY: randomBytes(20).toString("hex"),
    AWS_REGION: "us-east-1",
  };
  const server = spawn(
    path,
    [`--port=127.0.0.1:${port}`, "--keep-alive", "--quiet", "--health=/health"].concat([
      "posix",
      `--sidecar=${join(root, "metadata")}`,
      join(root, "data"),
    ]),
    {
      env: {
        PATH: process.env.PATH,
        ROOT_ACCESS_KEY_ID: env.AWS_ACCESS_KEY_ID,
        ROOT_SECRET_ACCESS_KEY: env.AWS_SECRET_ACCESS_KEY,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const log: string[] = [];
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => log.push(String(text)));
  const exit = once(server, "exit");
  const endpoint = `http://127.0.0.1:${port}`;
  await Promise.race([
    isUp(`${endpoint}/health`),
    exit.then(() => assert.fail(`versitygw did not start:\n${log.join("")}`)),
  ]);
  return {
    endpoint,
    bucket,
    env,
    folder: join(root, "data", bucket),
    [Symbol.asyncDispose]: async () => {
      server.kill("SIGTERM");
      await exit;
      await rm(root, { recursive: true });
    },
  };
}

async function isUp(url: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok === true) return;
    await delay(50);
  }
  assert.fail(`versitygw does not answer at ${url}`);
}

/** What happens to a request. */
export type Fault =
  /** Answers in the server's stead. */
  | { readonly does: "answer"; readonly status: number; readonly code: string; readonly body?: string }
  /** Drops the connection: the request did not reach the server. */
  | { readonly does: "drop" }
  /** Drops the connection after the server has done what was asked. */
  | { readonly does: "lose answer" }
  /** Sends so many bytes of the server's answer, then drops the connection. */
  | { readonly does: "cut answer"; readonly afterBytes: number }
  /** Drops the connection after so many bytes of the request's body. */
  | { readonly does: "cut body"; readonly afterBytes: number }
  /** Answers nothing for so long. */
  | { readonly does: "delay"; readonly milliseconds: number }
  /** The object that is there is removed first, as if the condition of a put were ignored. */
  | { readonly does: "overwrite" };

/** A request, as a script sees it. `key`: path below the bucket, not encoded. */
export interface SeenRequest {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
}

/** The fault of a request; undefined: it is passed on. */
export type Script = (request: SeenRequest) => Fault | undefined;

export interface FaultyProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Sets what happens to the requests that come from now on; the requests seen until then are forgotten. */
  script(script: Script): void;
  /** Requests since the script was set. */
  readonly seen: readonly SeenRequest[];
}

/** The first so many requests that fit have the fault. */
export function times(count: number, fits: (request: SeenRequest) => boolean, fault: Fault): Script {
  let left = count;
  return (request) => {
    if (left === 0 || !fits(request)) return undefined;
    left--;
    return fault;
  };
}

/** A proxy before a server. Signatures hold: the header `Host` is passed on as it came. */
export async function faultyProxy(
  server: Pick<S3Server, "endpoint" | "bucket" | "folder">,
): Promise<FaultyProxy> {
  let script: Script = () => undefined;
  let seen: SeenRequest[] = [];
  const proxy = createServer((request, response) => {
    const url = new URL(request.url ?? "/", server.endpoint);
    const key = decodeURIComponent(url.pathname).replace(`/${server.bucket}`, "").replace(/^\//, "");
    const asked = { method: request.method ?? "", key, query: url.searchParams };
    seen.push(asked);
    const { socket } = request;
    passOn({ request, response, server, key, fault: script(asked) }).catch(() => void socket.destroy());
  });
  // A client that waits for leave to send its body gets it from the server behind.
  proxy.on("checkContinue", (request, response) => {
    response.writeContinue();
    proxy.emit("request", request, response);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    script: (next) => {
      script = next;
      seen = [];
    },
    get seen() {
      return seen;
    },
    [Symbol.asyncDispose]: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, "close");
    },
  };
}

interface Passed {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Pick<S3Server, "endpoint" | "folder">;
  readonly key: string;
  readonly fault: Fault | undefined;
}

async function passOn({ request, response, server, key, fault }: Passed): Promise<void> {
  const { socket } = request;
  if (fault?.does === "drop") return void socket.destroy();
  const body = await bodyOf(
    request,
    fault?.does === "cut body" ? fault.afterBytes : Number.POSITIVE_INFINITY,
  );
  if (body === null) return void socket.destroy();
  if (fault?.does === "answer") return answer(response, fault);
  if (fault?.does === "delay") await delay(fault.milliseconds);
  const headers = { ...request.headers };
  delete headers.expect;
  if (fault?.does === "overwrite") await rm(join(server.folder, key), { force: true });
  const url = new URL(server.endpoint);
  const passed = httpRequest({
    host: url.hostname,
    port: url.port,
    method: request.method,
    path: request.url,
    headers,
  });
  // A server may answer before it has read the body, and not read the rest.
  passed.on("error", () => undefined);
  passed.end(body);
  const [answered] = (await once(passed, "response")) as [IncomingMessage];
  const text = await bodyOf(answered);
  if (fault?.does === "lose answer" || text === null) return void socket.destroy();
  response.writeHead(answered.statusCode ?? 500, answered.headers);
  if (fault?.does !== "cut answer") return void response.end(text);
  response.write(text.subarray(0, fault.afterBytes), () => socket.destroy());
}

/** Null: it was longer than that, or did not come to its end. The connection stays as it is. */
async function bodyOf(message: IncomingMessage, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  return await new Promise((resolve) => {
    message.on("data", (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > maxBytes) resolve(null);
    });
    message.on("end", () => resolve(Buffer.concat(pieces)));
    message.on("close", () => resolve(null));
  });
}

function answer(response: ServerResponse, { status, code, body }: Extract<Fault, { does: "answer" }>): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(body ?? `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
}
