import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { codeOf } from "../common/errors.ts";
import { errorBody, HttpError } from "./http-error.ts";

/** A request and what answers it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface ConnectionOptions {
  readonly answer: RequestListener;
  /** How long a request may take to arrive, its body included. */
  readonly requestTimeoutMs: number;
  /** For the `Date` header. */
  readonly now: () => number;
}

/** How long a client may take to read why its connection ends. */
const LINGER_MS = 1000;

/**
 * One client connection. Its requests are answered one after another, each when the client has taken the answer before
 * it, and the socket is not read while requests wait. So a client that sends without reading holds one answer, and
 * the requests of one chunk.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #waiting: Exchange[] = [];
  /** The exchange whose turn it is, or was last. */
  #current: Exchange | undefined;
  /** Whether an answer is due. */
  #busy = false;
  /** What the connection ends with. */
  #refusal: HttpError | undefined;
  /** Whether the socket may be read. */
  #open = true;
  /** Requests whose headers have arrived. */
  #arrived = 0;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    // Node takes its own listener away when it hands a socket over, as it does for CONNECT.
    socket.on("error", () => socket.destroy());
    // Node resumes a socket after each request, and when an answer has drained.
    socket.on("resume", () => {
      if (!this.#open) socket.pause();
    });
  }

  /** Answers a request when its turn has come. */
  take(exchange: Exchange): void {
    if (this.#refusal !== undefined) return;
    this.#arrived += 1;
    if (this.#busy) {
      this.#waiting.push(exchange);
      this.#read(false);
    } else this.#begin(exchange);
  }

  /** What cannot be read as HTTP, took too long, or has ended. */
  fail(error: Error): void {
    const code = codeOf(error) ?? "";
    if (code === "ECONNRESET" || !this.#socket.writable) {
      this.#socket.destroy();
      return;
    }
    const unfinished = this.#unfinished();
    if (code === TIMEOUT && this.#busy && unfinished !== this.#current) {
      this.#failLater(error);
      return;
    }
    // It has been answered already, without its body.
    if (unfinished?.response.headersSent === true) {
      this.#socket.destroy();
      return;
    }
    this.refuse(REFUSALS[code] ?? NOT_HTTP);
  }

  /** Ends the connection with a refusal, after the answers that are due. */
  refuse(refusal: HttpError): void {
    if (this.#refusal !== undefined) return;
    this.#refusal = refusal;
    this.#read(false);
    const unfinished = this.#unfinished();
    if (unfinished !== undefined && unfinished === this.#waiting.at(-1)) this.#waiting.pop();
    if (!this.#busy || unfinished === this.#current) this.#end(refusal);
  }

  /** Nothing went through the socket for a while: the client is gone, unless its answer is still being made. */
  endIfIdle(): void {
    if (!this.#busy || this.#socket.writableLength > 0) this.#socket.destroy();
  }

  /** A request that is late while answers are due before it waits for us: it has as long again. */
  #failLater(error: Error): void {
    const arrived = this.#arrived;
    setTimeout(() => {
      if (this.#arrived === arrived || this.#unfinished() !== undefined) this.fail(error);
    }, this.#options.requestTimeoutMs).unref();
  }

  #read(open: boolean): void {
    this.#open = open;
    if (open) this.#socket.resume();
    else this.#socket.pause();
  }

  #begin(exchange: Exchange): void {
    this.#busy = true;
    this.#current = exchange;
    exchange.response.once("close", () => this.#next());
    this.#options.answer(exchange.request, exchange.response);
  }

  #next(): void {
    if (!this.#socket.writable) return;
    const exchange = this.#waiting.shift();
    if (exchange !== undefined) {
      this.#current = exchange;
      // Other connections get their turn in between.
      setImmediate(() => this.#socket.writable && this.#begin(exchange));
      if (this.#waiting.length === 0 && this.#refusal === undefined) this.#read(true);
      return;
    }
    this.#busy = false;
    if (this.#refusal !== undefined) this.#end(this.#refusal);
  }

  /** The last request where it has not arrived whole; only the last one can be so. */
  #unfinished(): Exchange | undefined {
    const last = this.#waiting.at(-1) ?? this.#current;
    return last?.request.complete === false ? last : undefined;
  }

  #end(refusal: HttpError): void {
    // Reads on, so that the client's end is seen; but no rest of a request that is refused.
    if (this.#unfinished() === undefined) this.#read(true);
    this.#socket.end(message(refusal, this.#options.now()));
    const linger = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once("close", () => clearTimeout(linger));
  }
}

function message({ status, message: sentence, headers }: HttpError, nowMs: number): string {
  const body = errorBody(sentence);
  const lines = Object.entries({
    ...headers,
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    date: new Date(nowMs).toUTCString(),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}

const TIMEOUT = "ERR_HTTP_REQUEST_TIMEOUT";
const NOT_HTTP = new HttpError(400, "This is not valid HTTP.");

/** Refusals by the code of Node's error. */
const REFUSALS: Readonly<Record<string, HttpError>> = {
  [TIMEOUT]: new HttpError(408, "The request took too long to arrive."),
  HPE_HEADER_OVERFLOW: new HttpError(431, "The address and the headers together are too large."),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError(413, "The body is too large."),
};
