/** Asks for the first page of a pass, to see how many items a page can have. */

import type { ExtractContext } from "../context.ts";
import type { HttpResponse } from "../http/client.ts";
import { type ListMode, listRequest } from "../http/request.ts";
import { observedAtOf, recordOf } from "../journal.ts";
import { DECODE_LIMITS, decodeBytes } from "./decode.ts";
import { readList } from "./envelope.ts";
import { type Chosen, type FirstPage, MAX_PAGE_MS, type PageKind, type PageSizes } from "./page-size.ts";

interface ReadFirstPage extends FirstPage {
  readonly response: HttpResponse;
}

export interface PassToSize {
  readonly pass: number;
  readonly mode: ListMode;
  readonly kind: PageKind;
  readonly columns: readonly string[];
  /** Only sizes are tried that it is a multiple of; undefined: all. */
  readonly multiple: number | undefined;
}

/** The page size for a pass. Answers that are not its first page are put on record, as requests of no page. */
export async function choosePageSize(
  context: ExtractContext,
  sizes: PageSizes,
  toSize: PassToSize,
): Promise<Chosen<ReadFirstPage>> {
  const { clock, journal } = context;
  const { pass, mode, kind, multiple } = toSize;
  const asked: ReadFirstPage[] = [];
  const chosen = await sizes.choose(kind, multiple, async (perPage, patient) => {
    const page = await askFirst(context, toSize, perPage, patient);
    asked.push(page);
    return page;
  });
  for (const { response } of asked.filter((page) => page !== chosen.first)) {
    const bytes = response.body.byteLength;
    journal.requests.add(
      recordOf(response, { mode, pass, bytes, observedAt: observedAtOf(response, clock) }),
    );
  }
  return chosen;
}

async function askFirst(
  { client, signal }: ExtractContext,
  { mode, columns }: PassToSize,
  perPage: number,
  patient: boolean,
): Promise<ReadFirstPage> {
  const request = listRequest({ mode, page: 1, perPage, columns, gallery: true });
  if (patient) {
    const { response, value } = await client.readAs(request, signal, read);
    return { ...value, response };
  }
  const response = await client.readOnce(request, signal, MAX_PAGE_MS);
  return { ...read(response), response };
}

function read({ body, contentEncoding, milliseconds }: HttpResponse): FirstPage {
  const decoded = decodeBytes(body, contentEncoding, DECODE_LIMITS);
  const { pagination, rows } = readList(decoded);
  const { per_page: perPage, count } = pagination;
  return { perPage, count, rows, decodedBytes: decoded.byteLength, milliseconds };
}
