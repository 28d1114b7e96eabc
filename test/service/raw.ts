import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { basic } from "./ask.ts";

/** Requests written to a socket as they are: what HTTP clients do not send, or not in this order. */

export const FORM = "Content-Type: application/x-www-form-urlencoded\r\n";
export const LAST = "Connection: close\r\n";
export const TUNNEL = "CONNECT cms.example:443 HTTP/1.1\r\nHost: cms.example\r\n\r\n";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The request of an API client, as text. */
export function rawRequest(target: string, { method = "GET", headers = "", body = "" } = {}): string {
  const credentials = `Authorization: ${basic("t-admin")}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nHost: cms.example\r\n${credentials}${headers}\r\n${body}`;
}

export async function open(t: TestContext, { port }: { readonly port: number }): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  // A service may end a connection that has not been read to its end by a reset.
  socket.on("error", () => socket.destroy());
  t.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** All that comes until the connection ends. */
export async function received(socket: Socket): Promise<RawAnswer[]> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => socket.once("close", resolve));
  return answersIn(Buffer.concat(chunks));
}

/** Sends this on a connection of its own, and waits until that ends. */
export async function talk(t: TestContext, service: { readonly port: number }, text: string) {
  const socket = await open(t, service);
  const answers = received(socket);
  socket.write(text);
  return answers;
}

function answersIn(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf("\r\n\r\n", start);
    assert.ok(end > 0, `no whole answer: ${bytes.toString("latin1", start, start + 200)}`);
    const [line = "", ...fields] = bytes.toString("latin1", start, end).split("\r\n");
    const headers = Object.fromEntries(
      fields.map((field) => [field.split(": ", 1).join().toLowerCase(), field.replace(/^[^:]*: /, "")]),
    );
    const length = Number(headers["content-length"] ?? 0);
    const from = end + 4;
    answers.push({
      status: Number(line.split(" ")[1]),
      headers,
      body: bytes.toString("utf8", from, from + length),
    });
    start = from + length;
  }
  return answers;
}

/** Asserts a refusal with the service's body. */
export function assertRefusal(answer: RawAnswer | undefined, status: number, sentence: RegExp): void {
  assert.equal(answer?.status, status, answer?.body);
  assert.equal(answer?.headers["content-type"], "application/json; charset=utf-8");
  const body: unknown = JSON.parse(answer?.body ?? "");
  assert.ok(typeof body === "object" && body !== null && "error" in body);
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.match(String(body.error), sentence);
  assert.match(String(body.error), /^[A-Z].*\.$/);
}
