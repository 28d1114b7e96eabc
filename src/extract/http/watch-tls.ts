import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { TLSSocket } from "node:tls";
import { isObject } from "../../common/objects.ts";

/** Where undici tells of each connection that it has made. */
const CHANNEL = "undici:client:connected";

export interface TlsFacts {
  /** `TLSv1.3` */
  readonly protocol: string;
  /** End of the certificate's validity. */
  readonly validTo: Date;
}

/** Notes what the last connection that was made is secured by, for as long as it watches. */
export class TlsWatch implements Disposable {
  /** `null`: plain HTTP; undefined: there was no connection. */
  facts: TlsFacts | null | undefined;

  readonly #note = (message: unknown): void => {
    if (!isObject(message)) return;
    const { socket } = message;
    this.facts = socket instanceof TLSSocket ? factsOf(socket) : null;
  };

  constructor() {
    subscribe(CHANNEL, this.#note);
  }

  [Symbol.dispose](): void {
    unsubscribe(CHANNEL, this.#note);
  }
}

function factsOf(socket: TLSSocket): TlsFacts {
  return {
    protocol: socket.getProtocol() ?? "TLS",
    validTo: new Date(socket.getPeerCertificate().valid_to),
  };
}
