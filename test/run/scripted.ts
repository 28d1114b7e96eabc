import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export type Json = Readonly<Record<string, unknown>>;

/** One request, as a script sees it. */
export interface Question {
  readonly kind: "list" | "item" | "destinations" | "custom_fields";
  /** Of a listing; `dynamic` for the others. */
  readonly mode: "dynamic" | "full" | "basic";
  readonly page: number;
  readonly perPage: number;
  /** Of a single-item request. */
  readonly id: string;
  readonly columns: readonly string[];
  /** Place among all requests, from 1. */
  readonly number: number;
  /** Place among those of its connection, from 1. */
  readonly use: number;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | Buffer | object;
}

/** An item of a listing; `full` and `dynamic` are what the two views have besides the common fields. */
export interface Item extends Json {
  readonly id: string;
}

/** When every answer was given, unless a script says otherwise: `observed_at` comes from it. */
export const ANSWERED = "Fri, 20 Nov 2026 02:00:00 GMT";

/** A content service on loopback whose listing a script can change while it is read. */
export class Scripted {
  items: unknown[];
  /** Answers some requests otherwise, or changes the items first and leaves the answer to the service. */
  script: (question: Question) => Reply | "hang" | "reset" | undefined = () => undefined;
  /** Order of the items of a listing. */
  arrange: (items: readonly unknown[], question: Question) => readonly unknown[] = (items) => items;
  readonly questions: Question[] = [];
  readonly authorizations = new Set<string>();
  /** Requests that were under way at the same time, at most. */
  atOnce = 0;
  url = "";
  /** Requests that are under way. */
  underWay = 0;
  readonly #uses = new WeakMap<object, number>();
  readonly #server = createServer((request, response) => this.#answer(request, response));

  constructor(items: readonly unknown[]) {
    this.items = [...items];
  }

  static async start(t: TestContext, items: readonly unknown[]): Promise<Scripted> {
    const scripted = new Scripted(items);
    await scripted.listen();
    t.after(() => scripted.close());
    return scripted;
  }

  /** `port`: that of before, where it was closed meanwhile. */
  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  asked(kind: Question["kind"], mode?: Question["mode"]): Question[] {
    return this.questions.filter((each) => each.kind === kind && (mode === undefined || each.mode === mode));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.underWay += 1;
    this.atOnce = Math.max(this.atOnce, this.underWay);
    response.on("close", () => {
      this.underWay -= 1;
    });
    this.authorizations.add(String(request.headers.authorization));
    const use = (this.#uses.get(request.socket) ?? 0) + 1;
    this.#uses.set(request.socket, use);
    const question = { ...questionOf(String(request.url), this.questions.length + 1), use };
    this.questions.push(question);
    const reply = this.script(question) ?? this.#reply(question);
    if (reply === "hang") return;
    if (reply === "reset") {
      request.socket.resetAndDestroy();
      return;
    }
    // A turn of the loop between request and answer, so that requests made together are seen together.
    setImmediate(() => {
      const { status = 200, headers = {}, body = "" } = reply;
      response.writeHead(status, { "content-type": "application/json", date: ANSWERED, ...headers });
      response.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    });
  }

  #reply(question: Question): Reply {
    if (question.kind === "list") return { body: listBody(this.arrange(this.items, question), question) };
    if (question.kind !== "item") return { body: [] };
    const found = this.items.find((item) => (item as Item).id === question.id);
    return found === undefined
      ? { status: 404, body: { error: "There is no such item." } }
      : { body: { response: found } };
  }
}

/** A page of a listing as the specification has it. */
export function listBody(items: readonly unknown[], { page, perPage }: Question): ListBody {
  const response = items.slice((page - 1) * perPage, page * perPage);
  const pages = Math.max(1, Math.ceil(items.length / perPage));
  return {
    response,
    count: response.length,
    pagination: {
      previous: page > 1 ? page - 1 : null,
      next: page < pages ? page + 1 : null,
      current: page,
      per_page: perPage,
      count: items.length,
      pages,
    },
  };
}

export interface ListBody {
  readonly response: readonly unknown[];
  readonly count: number;
  readonly pagination: Json;
}

function questionOf(target: string, number: number): Omit<Question, "use"> {
  const { pathname, searchParams } = new URL(target, "http://host");
  const [, , , resource = "", id = ""] = pathname.split("/");
  const detail = searchParams.get("detail");
  return {
    kind: kindOf(resource, id),
    mode: detail === "full" || detail === "basic" ? detail : "dynamic",
    page: Number(searchParams.get("page")),
    perPage: Number(searchParams.get("per_page")),
    id: decodeURIComponent(id),
    columns: searchParams.getAll("columns[]"),
    number,
  };
}

function kindOf(resource: string, id: string): Question["kind"] {
  if (resource === "destinations") return "destinations";
  if (resource === "custom_fields_reference") return "custom_fields";
  return id === "" ? "list" : "item";
}

/** `c-000`, `c-001`, ...; every tenth is an event. */
export function itemsOf(count: number): Item[] {
  return Array.from({ length: count }, (_, index) => item(`c-${String(index).padStart(3, "0")}`, index));
}

export function item(id: string, index: number, more: Json = {}): Item {
  return {
    id,
    slug: `slug-of-${id}`,
    title: `Title of ${id}`,
    updated_at: "2026-11-01T10:00:00Z",
    body_type: index % 10 === 0 ? "event" : "html",
    tags: ["one", `tag of ${id}`],
    ...more,
  };
}
