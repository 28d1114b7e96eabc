/** A store that takes requests and does not answer, or begins to. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SilentServer extends AsyncDisposable {
  readonly endpoint: string;
  /** Resolves once a request has come that was not waited for yet. */
  heard(): Promise<unknown>;
}

/** `begins`: answers with the beginning of an object, and stops in it. */
export async function silentServer({ begins }: { readonly begins: boolean }): Promise<SilentServer> {
  const server = createServer((_, response) => {
    if (begins) response.writeHead(200, { "content-length": 1000 }).write("begun");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    heard: () => once(server, "request"),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
