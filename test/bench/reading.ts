/** How the programs that the export is held against read the listings: as the export does by default. */
import { Pool } from "undici";
import { DYNAMIC_COLUMN_NAMES } from "../../src/api/dynamic.ts";
import { listRequest } from "../../src/extract/http/request.ts";

/** Settings that the export has, where the bench gives it others than the defaults. */
export interface ReadSettings {
  readonly url: string;
  readonly token: string;
  readonly perPage: number;
}

/** Requests at the same time: the export's default. */
export const CONCURRENCY = 4;
export const LISTINGS = ["dynamic", "full"] as const;
export type Listing = (typeof LISTINGS)[number];

export class Reader {
  readonly #settings: ReadSettings;
  readonly #pool: Pool;

  constructor(settings: ReadSettings, connections: number) {
    this.#settings = settings;
    this.#pool = new Pool(settings.url, { connections });
  }

  async page(mode: Listing, page: number): Promise<{ response: unknown[]; pagination: { pages: number } }> {
    const { token, perPage } = this.#settings;
    const { path, parameters } = listRequest({
      mode,
      page,
      perPage,
      columns: DYNAMIC_COLUMN_NAMES,
    });
    const { body } = await this.#pool.request({
      method: "GET",
      path: `${path}?${new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value]))}`,
      headers: { authorization: `Basic ${Buffer.from(`${token}:x`).toString("base64")}` },
    });
    return JSON.parse(await body.text());
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
