/** Posts an event to the endpoint that the configuration names. Nothing is asked again, and no redirect followed. */
import { request } from "undici";
import { codeOf } from "../common/errors.ts";
import { printable } from "../common/printable.ts";
import { VERSION } from "../common/version.ts";
import type { HttpEndpoint } from "./settings.ts";

/** Throws an Error that says what went wrong, and at which address. */
export async function postJson(
  { url, apiKey }: HttpEndpoint,
  body: unknown,
  signal: AbortSignal,
): Promise<void> {
  const status = await send({ url, apiKey }, JSON.stringify(body), signal).catch((thrown: unknown) => {
    signal.throwIfAborted();
    throw new Error(`${url.origin} cannot be reached (${codeOf(thrown) ?? printable(String(thrown))})`);
  });
  if (status < 200 || status > 299) throw new Error(`${url.origin}${url.pathname} answered with ${status}`);
}

async function send({ url, apiKey }: HttpEndpoint, body: string, signal: AbortSignal): Promise<number> {
  const response = await request(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": `content-warehouse/${VERSION}`,
      ...(apiKey !== null && { authorization: `Bearer ${apiKey.reveal()}` }),
    },
    body,
    signal,
  });
  await response.body.dump();
  return response.statusCode;
}
