/** Asks again for items that a run could not read. Publishes nothing: that is for the next run. */

import { z } from "zod";
import { WorkQueue } from "../common/threads/work-queue.ts";
import type { HttpClient, HttpResponse } from "../extract/http/client.ts";
import { itemRequest } from "../extract/http/request.ts";
import { SourceError } from "../extract/http/source-error.ts";
import { decodeBytes } from "../extract/pages/decode.ts";
import { readItem } from "../extract/pages/envelope.ts";
import { itemsOwnFailure } from "../extract/passes/single-item.ts";
import type { Shape } from "../raw/document.ts";
import { itemId } from "../raw/prepare.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { type Asking, type OpenSource, openClient } from "./source.ts";

export interface Retried {
  readonly contentId: string;
  /** `readable`: the next run takes it. `gone`: the service has it no longer. `unreadable`: as before. */
  readonly now: "readable" | "gone" | "unreadable";
  /** Why it is unreadable; else empty. */
  readonly reason: string;
}

export interface Retry extends Asking {
  /** Of the run that rejected the items: an item can be read if it can be in all of them. */
  readonly shapes: readonly Shape[];
  readonly signal: AbortSignal;
}

/** Shapes that the passes of the run read. */
export function shapesOf({ passes }: Manifest): Shape[] {
  const read = z.array(z.looseObject({ mode: z.string() })).parse(passes);
  return (["dynamic", "full"] as const).filter((shape) => read.some(({ mode }) => mode === shape));
}

/** Asks for each item singly, in the order given. Throws what is not the items' own failure: a refused token, say. */
export async function retryItems(
  contentIds: readonly string[],
  source: OpenSource,
  asking: Retry,
): Promise<Retried[]> {
  const client = openClient(source, asking);
  const queue = new WorkQueue(asking.config.concurrency, asking.signal);
  const retried: Retried[] = [];
  try {
    for (const [place, contentId] of contentIds.entries()) {
      await queue.add(async () => {
        retried[place] = { contentId, ...(await retryItem(client, contentId, asking, queue.signal)) };
      });
    }
    await queue.done();
  } finally {
    await client.close();
  }
  return retried;
}

async function retryItem(
  client: HttpClient,
  id: string,
  { config, shapes }: Retry,
  signal: AbortSignal,
): Promise<Omit<Retried, "contentId">> {
  try {
    for (const mode of shapes) {
      const request = itemRequest({ id, mode, columns: config.columns, gallery: true });
      const { value } = await client.readAs(request, signal, (response) => outcomeOf(response, id));
      if (value.now !== "readable") return value;
    }
    return { now: "readable", reason: "" };
  } catch (thrown) {
    if (!(thrown instanceof SourceError) || itemsOwnFailure(thrown) === undefined) throw thrown;
    return { now: "unreadable", reason: thrown.message };
  }
}

function outcomeOf(response: HttpResponse, id: string): Omit<Retried, "contentId"> {
  if (response.status !== 200) return { now: "gone", reason: "" };
  const found = itemId(readItem(decodeBytes(response).toString()));
  if ("reason" in found) return { now: "unreadable", reason: found.reason };
  if (found.id === id) return { now: "readable", reason: "" };
  return { now: "unreadable", reason: "the answer is of another item than the one asked for" };
}
