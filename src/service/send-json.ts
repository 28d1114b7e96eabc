/** Sends JSON as the client accepts it. */
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { HttpError } from "./http-error.ts";

const compress = promisify(gzip);

/** Smaller bodies are not worth compressing. */
const GZIP_FROM_BYTES = 1024;

/** Sends JSON, compressed if the client accepts that and the body is large enough. */
export async function sendJson(request: FastifyRequest, reply: FastifyReply, json: string): Promise<void> {
  const body = Buffer.from(json);
  reply.header("content-type", "application/json; charset=utf-8").header("vary", "accept-encoding");
  if (body.length < GZIP_FROM_BYTES || !acceptsGzip(request.headers["accept-encoding"])) {
    return reply.send(body);
  }
  // Level 1: on loopback, a smaller body is not worth more time.
  const compressed = await compress(body, { level: constants.Z_BEST_SPEED });
  return reply.header("content-encoding", "gzip").send(compressed);
}

/** Throws 406 if the client does not accept JSON. */
export function checkAccepts(accept: string | undefined): void {
  if (accept === undefined || accept.trim() === "") return;
  if (!weights(accept).some(([type, weight]) => weight > 0 && JSON_RANGES.has(type))) {
    throw new HttpError(406, "This service answers in JSON only: accept application/json.");
  }
}

const JSON_RANGES = new Set(["application/json", "application/*", "*/*"]);

export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  const accepted = new Map(weights(String(acceptEncoding ?? "")));
  return (accepted.get("gzip") ?? accepted.get("x-gzip") ?? accepted.get("*") ?? 0) > 0;
}

/** `gzip;q=0.5, *` as `[["gzip", 0.5], ["*", 1]]`. */
function weights(header: string): [name: string, weight: number][] {
  return header.split(",").map((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    return [name, quality === undefined ? 1 : Number(quality.slice(2)) || 0];
  });
}
