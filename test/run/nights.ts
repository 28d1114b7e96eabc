import { type Clock, systemClock } from "../../src/common/clock.ts";
import { type Config, loadConfig } from "../../src/config/config.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { serviceAt } from "../service-at.ts";
import { exportFrom, HISTORY } from "./running.ts";

export interface ServedNight {
  /** The warehouse's folder. */
  readonly out: string;
  /** Folder of the content set that is served. */
  readonly data: string;
  /** 0: any. */
  readonly port: number;
  readonly pipelineUrl?: string;
  readonly config?: Partial<Config>;
  readonly clock?: Clock;
}

/** Exports a content set from a service at a port of its own, so that all nights can read one instance. */
export async function servedNight({
  out,
  data,
  port,
  pipelineUrl = HISTORY,
  config = {},
  clock = systemClock,
}: ServedNight): Promise<{ summary: RunSummary; port: number }> {
  const service = await serviceAt({ data, port });
  try {
    const [token = ""] = service.contentSet.tokens.keys();
    const destinations = service.contentSet.destinations.map(({ identification, platform }) => ({
      name: identification,
      platform,
    }));
    const url = service.url;
    const { source } = await loadConfig({
      cwd: out,
      env: { CONTENT_API_URL: url, CONTENT_API_TOKEN: token },
      flags: { warehouse: out },
      sampleBy: "--sample",
    });
    const summary = await exportFrom({
      url,
      out,
      pipelineUrl,
      clock,
      config: { source, destinations, perPage: 100, ...config },
    });
    return { summary, port: Number(new URL(url).port) };
  } finally {
    await service.close();
  }
}
