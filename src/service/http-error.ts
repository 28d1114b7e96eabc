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

/** 405, with the methods that the URL allows. */
export function methodRefusal(allowed: readonly string[]): HttpError {
  const sentence = "This interface is for reading; the address does not answer this method.";
  return new HttpError(405, sentence, { allow: allowed.join(", ") });
}
