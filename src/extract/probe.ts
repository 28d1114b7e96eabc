/** Small requests that a person waits for: does the service answer, and what does it have? */
import { isObject } from "../common/json.ts";
import type { HttpClient } from "./http/client.ts";
import { decodeBytes } from "./http/decode.ts";
import { type ListMode, listRequest } from "./http/request.ts";
import { instanceIdsOf, onlyId } from "./pages/instance-ids.ts";
import { readList } from "./pages/list-page.ts";
import { isUnreadablePage } from "./passes/page-reader.ts";

/** Pages that are read for names of destinations, spread evenly because similar items lie side by side. */
const MAX_PAGES = 10;
const SEARCH_MS = 15_000;

/** Asks the service. All methods throw what the client throws. */
export class Probe {
  readonly #client: Pick<HttpClient, "readAs">;
  readonly #signal: AbortSignal;
  /** Names at the service by those of the specification, as far as they differ. */
  readonly #names: ReadonlyMap<string, string>;

  /** `aliases`: the setting. */
  constructor(
    client: Pick<HttpClient, "readAs">,
    aliases: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.#signal = signal;
    this.#names = new Map(Object.entries(aliases).map(([there, here]) => [here, there]));
  }

  /**
   * Requests a page of one item, or the next page if that one cannot be read. Returns the number of items that the token
   * may read, and the instance that the first one names; `null` if it names none, or several.
   */
  async service() {
    const columns = ["id", "newsroom_id", "instance"];
    const { pagination, documents, response } = await this.#page({ columns }).catch((thrown: unknown) => {
      if (isUnreadablePage(thrown)) return this.#page({ columns, page: 2 });
      throw thrown;
    });
    const names = ["newsroom_id", "instance"].map((name) => [name, this.#field(documents[0], name)]);
    const instanceId = onlyId(instanceIdsOf(Object.fromEntries(names)));
    return { items: pagination.count, instanceId, response };
  }

  /** Names of the custom fields of the first 25 items, or of a smaller page; none if their page cannot be read. */
  async fieldNames(perPage: number | "auto"): Promise<string[]> {
    const most = perPage === "auto" ? 25 : Math.min(25, perPage);
    try {
      const { documents } = await this.#page({ mode: "full", perPage: most });
      return documents.flatMap((document) => textsIn(isObject(document) && document.custom_fields, "name"));
    } catch (thrown) {
      if (!isUnreadablePage(thrown)) throw thrown;
      return [];
    }
  }

  /** Requests the ID and times of one item. */
  async basic(): Promise<void> {
    await this.#page({ mode: "basic" });
  }

  /**
   * Names of destinations that items were published to, for hints: the service finds a destination only by its name. Empty
   * if the search fails or takes more than 15 seconds.
   */
  async destinationNames(): Promise<readonly string[]> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(SEARCH_MS)]);
    const columns = ["id", "publish_destination", "published_urls"];
    try {
      const first = await this.#page({ columns, perPage: 100 }, signal);
      const { per_page: perPage, pages } = first.pagination;
      const documents = [...first.documents];
      const count = Math.min(MAX_PAGES, pages);
      for (let i = 1; i < count; i++) {
        const page = 1 + Math.round((i * (pages - 1)) / (count - 1));
        documents.push(...(await this.#page({ columns, page, perPage }, signal)).documents);
      }
      const names = documents.flatMap((document) => [
        this.#field(document, "publish_destination"),
        ...textsIn(this.#field(document, "published_urls"), "external_site_name"),
      ]);
      const texts = [...new Set(names)].filter((name) => typeof name === "string");
      return texts.filter((name) => name.trim() !== "");
    } catch {
      this.#signal.throwIfAborted();
      return [];
    }
  }

  /** `columns`: names of the specification. */
  async #page(
    {
      mode = "dynamic",
      page = 1,
      perPage = 1,
      columns = [],
    }: { mode?: ListMode; page?: number; perPage?: number; columns?: readonly string[] },
    signal = this.#signal,
  ) {
    const names = columns.map((name) => this.#names.get(name) ?? name);
    const request = listRequest({ mode, page, perPage, columns: names });
    const { response, value } = await this.#client.readAs(request, signal, (answer) => {
      const { pagination, documents } = readList(decodeBytes(answer));
      return { pagination, documents: Array.from(documents, ({ document }) => document) };
    });
    return { ...value, response };
  }

  #field(document: unknown, name: string): unknown {
    return isObject(document) ? document[this.#names.get(name) ?? name] : undefined;
  }
}

/** Texts that elements of a list have under a name. */
function textsIn(list: unknown, name: string): string[] {
  const texts = (Array.isArray(list) ? list : []).map((each) => isObject(each) && each[name]);
  return texts.filter((text) => typeof text === "string");
}
