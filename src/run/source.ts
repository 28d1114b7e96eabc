/** The service that a run reads: one that answers at an address, or the embedded one with the sample content. */
import type { DestinationName } from "../extract/request.ts";
import { readServiceUrl, type ServiceUrl } from "../extract/service-url.ts";
import { packagePath } from "../package-root.ts";
import { Secret } from "../secret.ts";
import { createService } from "../service/service.ts";
import type { Config } from "./config.ts";

export interface OpenSource extends AsyncDisposable {
  readonly url: ServiceUrl;
  readonly token: Secret;
  readonly destinations: readonly DestinationName[];
}

/** Opens what the configuration names. The sample has its own destinations, unless the configuration names some. */
export async function openSource(config: Config): Promise<OpenSource> {
  const { source, destinations } = config;
  if (source.kind === "service") {
    return { url: source.url, token: source.token, destinations, [Symbol.asyncDispose]: async () => {} };
  }
  const service = await createService({ data: packagePath("data/sample"), port: 0 });
  const { contentSet } = service;
  const [token = ""] = contentSet.tokens.keys();
  const url = readServiceUrl(service.url);
  if (!("url" in url)) throw new TypeError(url.problem);
  const own = contentSet.destinations.map(({ identification, platform }) => ({
    name: identification,
    platform,
  }));
  return {
    url: url.url,
    token: new Secret(token),
    destinations: destinations.length > 0 ? destinations : own,
    [Symbol.asyncDispose]: async () => service.close(),
  };
}
