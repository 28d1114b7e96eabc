import { inspect } from "node:util";

export const REDACTED = "[redacted]";

/** A value that no log, error or file may show: as text it is `[redacted]`; only `reveal()` gives it. */
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
 * Replaces secrets in a text, in every form that they take on their way: as they are, percent-encoded, as JSON, in base64,
 * and as Basic credentials, whatever the password. The longest form first, so that nothing of a longer secret is left.
 */
export function redactor(secrets: readonly Secret[]): (text: string) => string {
  const patterns = new Set(secrets.flatMap((secret) => formsOf(secret.reveal())).map(patternOf));
  if (patterns.size === 0) return (text) => text;
  const longestFirst = [...patterns].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.join("|"), "g");
  return (text) => text.replace(pattern, REDACTED);
}

/** A text that a secret becomes on its way; more of it may follow in base64. */
interface SecretForm {
  readonly text: string;
  readonly isBase64: boolean;
}

/** Every text that holds the secret in a form that {@link redactor} knows has one of these in it. */
export function secretForms(secret: Secret): string[] {
  return formsOf(secret.reveal()).map(({ text }) => text);
}

/** An empty value is no secret: it would match everywhere. */
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

/** Percent-encoding may be written either way. */
function inLowerCase(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function patternOf({ text, isBase64 }: SecretForm): string {
  return isBase64 ? `${literally(text)}${BASE64}*` : literally(text);
}

const BASE64 = "(?:[A-Za-z0-9+/_=-]|%2[BbFf]|%3[Dd])";

/** With any password, base64 of `token:` begins with the same whole groups of three bytes; what follows goes too. */
function base64Of(text: string): string[] {
  const bytes = Buffer.from(text);
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
  const base64 = whole.toString("base64");
  return base64 === "" ? [] : [base64, encodeURIComponent(base64), whole.toString("base64url")];
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
