import { inspect } from "node:util";

export const REDACTED = "[redacted]";

/**
 * A value that no log, error or file may show. It prints as `[redacted]` however it is turned into text; the value
 * itself comes out only where the code says `reveal()`.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}

/** The value of an `Authorization` header with the token as user name; the password is a filler without meaning. */
export function basicCredentials(token: Secret): string {
  return `Basic ${Buffer.from(`${token.reveal()}:x`).toString("base64")}`;
}

/**
 * Replaces secrets in a text by their value, in every form that they take on their way: as they are, percent-encoded,
 * as JSON text, and as Basic credentials, whatever the password. One pass, longest form first, so that a secret that
 * is part of another never leaves the rest of the longer one behind.
 */
export function redactor(secrets: readonly Secret[]): (text: string) => string {
  const forms = new Set(secrets.flatMap((secret) => formsOf(secret.reveal())));
  if (forms.size === 0) return (text) => text;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.join("|"), "g");
  return (text) => text.replace(pattern, REDACTED);
}

/** Patterns of one secret. An empty value is no secret: it would match everywhere. */
function formsOf(value: string): string[] {
  if (value === "") return [];
  const quoted = JSON.stringify(value).slice(1, -1);
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const plain = [value, quoted, form, encodeURIComponent(Buffer.from(value).toString())];
  return [...plain.map(literally), ...credentialsOf(value).map((whole) => `${literally(whole)}${BASE64}*`)];
}

const BASE64 = "(?:[A-Za-z0-9+/_=-]|%2[BbFf]|%3[Dd])";

/**
 * Base64 of `token:` and of `token:` with any password have the whole groups of three bytes in common; what follows
 * them belongs to the last bytes of the token, so it goes too.
 */
function credentialsOf(value: string): string[] {
  const bytes = Buffer.from(`${value}:`);
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
  const base64 = whole.toString("base64");
  return base64 === "" ? [] : [base64, encodeURIComponent(base64), whole.toString("base64url")];
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
