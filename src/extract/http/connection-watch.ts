import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { isObject } from "../../common/objects.ts";

/** Where undici tells of each connection that it has made. */
const CHANNEL = "undici:client:connected";

export interface ConnectionFacts {
  /** IP address of the host; undefined: the connection is gone already. */
  readonly address: string | undefined;
  /** `TLSv1.3`, and the end of the certificate's validity. `null`: plain HTTP. */
  readonly tls: { readonly protocol: string; readonly validTo: Date } | null;
}

/** Notes facts of the last connection that the client has made, for as long as it watches. Opens none. */
export class ConnectionWatch implements Disposable {
  /** Undefined: there was no connection. */
  facts: ConnectionFacts | undefined;

  readonly #note = (message: unknown): void => {
    if (!isObject(message) || !isSocket(message.socket)) return;
    const { socket } = message;
    this.facts = { address: socket.remoteAddress, tls: tlsOf(socket) };
  };

  constructor() {
    subscribe(CHANNEL, this.#note);
  }

  [Symbol.dispose](): void {
    unsubscribe(CHANNEL, this.#note);
  }
}

function isSocket(value: unknown): value is Socket | TLSSocket {
  return typeof value === "object" && value !== null && "remoteAddress" in value;
}

function tlsOf(socket: Socket | TLSSocket): ConnectionFacts["tls"] {
  if (!("encrypted" in socket)) return null;
  const { valid_to: validTo } = socket.getPeerCertificate();
  return { protocol: socket.getProtocol() ?? "TLS", validTo: new Date(validTo) };
}
