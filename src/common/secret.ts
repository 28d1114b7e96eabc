/** Secrets: values that print as `[redacted]`, and their removal from texts. */
import { inspect } from "node:util";

export const REDACTED = "[redacted]";

/** A value that no log, error or file shows. As text it is `[redacted]`; only `reveal()` returns it. */
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

/** Value of an `Authorization` header with the token as user name and a meaningless password. */
export function basicCredentials(token: Secret): string {
  return `Basic ${Buffer.from(`${token.reveal()}:x`).toString("base64")}`;
}

/**
 * Returns a function that replaces secrets in a text: plain, percent-encoded, as JSON, in base64, and as Basic credentials
 * with any password. Longer forms come first, so that nothing of a longer secret is left.
 */
export function redactor(secrets: readonly Secret[]): (text: string) => string {
  const patterns = new Set(
    secrets
      .flatMap((secret) => formsOf(secret.reveal()))
      .map(({ text, isBase64 }) => (isBase64 ? `${literally(text)}${BASE64}*` : literally(text))),
  );
  if (patterns.size === 0) return (text) => text;
  const longestFirst = [...patterns].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.join("|"), "g");
  return (text) => text.replace(pattern, REDACTED);
}

/** An encoded secret. In base64 more of it may follow. */
interface SecretForm {
  readonly text: string;
  readonly isBase64: boolean;
}

/** Texts of which every text with the secret, in a form that {@link redactor} knows, contains one. */
export function secretForms(secret: Secret): string[] {
  return formsOf(secret.reveal()).map(({ text }) => text);
}

/** Forms of a secret; none for the empty text, which would match everywhere. */
function formsOf(value: string): SecretForm[] {
  if (value === "") return [];
  const quoted = JSON.stringify(value).slice(1, -1);
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const percent = encodeURIComponent(Buffer.from(value).toString());
  const plain = [value, quoted, form, percent, inLowerCase(form), inLowerCase(percent)];
  return [
    ...plain.map((text) => ({ text, isBase64: false })),
    ...[`${value}:`, value].flatMap(base64Of).map((text) => ({ text, isBase64: true })),
  ];
}

/** Percent-encoding in lower-case letters. */
function inLowerCase(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

const BASE64 = "(?:[A-Za-z0-9+/_=-]|%2[BbFf]|%3[Dd])";

/** Base64 of the whole groups of three bytes, which is the same with any password behind the token. */
function base64Of(text: string): string[] {
  const bytes = Buffer.from(text);
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
  const base64 = whole.toString("base64");
  return base64 === "" ? [] : [base64, encodeURIComponent(base64), whole.toString("base64url")];
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
