import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { isObject } from "../../common/objects.ts";

/** Where undici tells of each connection that it has made. */
const CHANNEL = "undici:client:connected";

export interface ConnectionFacts {
  /** IP address of the host; undefined: the connection is gone already. */
  readonly address: string | undefined;
  /** `null`: plain HTTP. */
  readonly tls: TlsFacts | null;
}

export interface TlsFacts {
  /** `TLSv1.3` */
  readonly protocol: string;
  /** End of the certificate's validity. */
  readonly validTo: Date;
}

/** Notes facts of the last connection that the client has made, for as long as it watches. Opens none. */
export class ConnectionWatch implements Disposable {
  /** Undefined: there was no connection. */
  facts: ConnectionFacts | undefined;

  readonly #note = (message: unknown): void => {
    if (!isObject(message) || !isSocket(message.socket)) return;
    const { socket } = message;
    this.facts = { address: socket.remoteAddress, tls: isTls(socket) ? tlsFactsOf(socket) : null };
  };

  constructor() {
    subscribe(CHANNEL, this.#note);
  }

  [Symbol.dispose](): void {
    unsubscribe(CHANNEL, this.#note);
  }
}

function isSocket(value: unknown): value is Socket {
  return typeof value === "object" && value !== null && "remoteAddress" in value;
}

function isTls(socket: Socket): socket is TLSSocket {
  return "encrypted" in socket && socket.encrypted === true;
}

function tlsFactsOf(socket: TLSSocket): TlsFacts {
  const { valid_to: validTo } = socket.getPeerCertificate();
  return { protocol: socket.getProtocol() ?? "TLS", validTo: new Date(validTo) };
}
