/** A refusal of a request: status, one sentence for the body, and headers. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, sentence: string, headers: Readonly<Record<string, string>> = {}) {
    super(sentence);
    this.status = status;
    this.headers = headers;
  }
}

export function badRequest(sentence: string): HttpError {
  return new HttpError(400, sentence);
}
