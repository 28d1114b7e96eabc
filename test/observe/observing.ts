/** Runs with observers, against a scripted service, and an endpoint that takes what they post. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Log } from "../../src/common/log.ts";
import { silentLog } from "../../src/common/log.ts";
import type { ObserveSettings } from "../../src/observe/outcome.ts";

export const NOBODY: ObserveSettings = { onFinish: null, metricsFile: null };

/** An HTTP server on loopback that keeps what is posted. */
export class Endpoint {
  readonly posted: { readonly path: string; readonly body: string }[] = [];
  status = 200;
  url = "";
  readonly #server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text) => {
      body += text;
    });
    request.on("end", () => {
      this.posted.push({ path: String(request.url), body });
      response.writeHead(this.status).end();
    });
  });

  static async start(t: { after(ended: () => void): void }): Promise<Endpoint> {
    const endpoint = new Endpoint();
    await new Promise<void>((resolve) => endpoint.#server.listen(0, "127.0.0.1", resolve));
    endpoint.url = `http://127.0.0.1:${(endpoint.#server.address() as AddressInfo).port}`;
    t.after(() => {
      endpoint.#server.closeAllConnections();
      endpoint.#server.close();
    });
    return endpoint;
  }
}

/** A log that keeps its warnings. */
export function warningsIn(warnings: string[]): Log {
  return { ...silentLog, warn: (message) => warnings.push(message) };
}
