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
 * Returns a function that replaces secrets in a text. Found are a secret with any of its characters percent-encoded, as HTML
 * entities or escaped in JSON, also more than once, and base64 of it or of `user:secret`, with what follows in it. Longer
 * secrets come first, so that nothing of them is left.
 */
export function redactor(secrets: readonly Secret[]): (text: string) => string {
  const values = secrets.map((secret) => secret.reveal()).filter((value) => value !== "");
  if (values.length === 0) return (text) => text;
  const longestFirst = values.sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.flatMap(patternsOf).join("|"), "g");
  return (text) => text.replace(pattern, REDACTED);
}

/** The texts that {@link redactor} finds, before any of their characters is escaped. */
export function secretForms(secret: Secret): string[] {
  return [secret.reveal(), ...base64Of(secret.reveal())];
}

function patternsOf(value: string): string[] {
  const plain = [...value].map((char) =>
    LETTER_OR_DIGIT.test(char) ? written(char) : `(?:${ENTITY_NAME}|${written(char)})`,
  );
  const base64 = base64Of(value).map((text) => {
    const chars = [...text].map((char) => (LETTER_OR_DIGIT.test(char) ? char : BASE64_SIGNS[char]));
    return `${chars.join("")}(?:[A-Za-z0-9]|${Object.values(BASE64_SIGNS).join("|")})*`;
  });
  return [plain.join(""), ...base64];
}

const LETTER_OR_DIGIT = /[A-Za-z0-9]/;
const ENTITY_NAME = "&(?:amp;){0,4}[A-Za-z]{2,8};";

/** Pattern of a character in each way to write it. Repetitions have a bound, so that a search takes linear time. */
function written(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const percent = Buffer.from(char)
    .toString("hex")
    .replace(/../g, (hex) => `%(?:25){0,4}${anyCase(hex)}`);
  const units = char
    .split("")
    .map((unit) => `\\\\{1,8}u${anyCase(unit.charCodeAt(0).toString(16).padStart(4, "0"))}`);
  const entity = `&(?:amp;){0,4}#(?:0{0,6}${code}|[xX]0{0,6}${anyCase(code.toString(16))});`;
  const quoted = /["/]/.test(char) ? `\\\\{0,8}${char}` : literally(JSON.stringify(char).slice(1, -1));
  const itself = char === " " ? "[ +]" : literally(char);
  return `(?:${[units.join(""), percent, entity, quoted, itself].join("|")})`;
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Patterns of the characters of base64 but letters and digits, which are others in URLs. */
const BASE64_SIGNS: Readonly<Record<string, string>> = {
  "+": `(?:${written("+")}|-)`,
  "/": `(?:${written("/")}|_)`,
  "=": written("="),
};

/** Base64 of a secret, and of `user:secret` with any user: the characters that depend on nothing behind the secret. */
function base64Of(value: string): string[] {
  return ["", ":", "::"]
    .map((user) => {
      const bytes = Buffer.from(user + value);
      const [from, to] = [user.length, bytes.length].map((length) => Math.floor((length * 4) / 3));
      return bytes.toString("base64").slice(from, to);
    })
    .filter((text) => text.length >= 4);
}

export function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
