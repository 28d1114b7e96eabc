/**
 * Removes the API token from responses that repeat it, such as in links. The bytes of a body are changed before they are
 * parsed, so that no other code sees the token.
 *
 * A search for a few bytes takes a hundredth of the time of parsing and shows that most bodies do not hold the token. Only
 * the others are read string by string.
 */
import { parseIfJson } from "../../common/json.ts";
import { literally, redactor, type Secret, secretForms } from "../../common/secret.ts";

/** A shorter token may be an ordinary word, so it is not looked for. */
const MIN_TOKEN_LENGTH = 8;

/** Letters and digits, which serializers leave as they are. Shorter runs are in every body. */
const RUNS = /[A-Za-z0-9]{4,}/g;
/** Part of a run: Node finds up to seven bytes, and what begins with a rare one, several times as fast. */
const QUICK_ANCHOR = /[A-Z].{4,6}/;

/** A string of JSON, with the colon after it if it is a name. */
const LITERAL = /("[^"\\]*(?:\\.[^"\\]*)*")([ \n\r\t]*:|)/gs;

/** Of a character in JSON, escaped more than once. */
const MAX_BYTES = 60;
/** Longer strings take several times as long to make. */
const CHUNK_BYTES = 65_536;

export class TokenRedactor {
  readonly #redact: (text: string) => string;
  readonly #forms: readonly TokenForm[];
  /** Finds what each literal with the token holds. */
  readonly #hint: RegExp;

  constructor(token: Secret) {
    this.#redact = redactor([token]);
    this.#forms = token.reveal().length < MIN_TOKEN_LENGTH ? [] : secretForms(token).map(tokenForm);
    this.#hint = new RegExp(["[\\\\%&]", ...this.#forms.map(({ anchor }) => anchor)].join("|"));
  }

  /**
   * Replaces the token by `[redacted]`. Returns the new JSON and the number of changed `texts` by the name of their member;
   * `undefined` if the token is not in the body. A body that is not JSON is left to the parser to refuse.
   */
  redact(bytes: Buffer) {
    if (!this.#forms.some((form) => holds(bytes, form))) return undefined;
    const texts = new Map<string, number>();
    let name = "";
    // Each byte is a character, and stays as it came.
    const body = bytes.toString("latin1").replace(LITERAL, (whole, literal: string, colon: string) => {
      if (colon !== "") name = literal;
      const changed = this.#redacted(literal);
      if (changed === undefined) return whole;
      const shown = this.#redact(String(parsed(name) ?? ""));
      texts.set(shown, (texts.get(shown) ?? 0) + 1);
      return changed + colon;
    });
    return texts.size === 0 ? undefined : { bytes: Buffer.from(body, "latin1"), texts };
  }

  /** The literal without the token; `undefined` if it does not hold it. */
  #redacted(literal: string): string | undefined {
    if (!this.#hint.test(literal)) return undefined;
    const text = parsed(literal);
    // The parser will refuse the body.
    if (typeof text !== "string") return undefined;
    const redacted = this.#redact(text);
    return redacted === text ? undefined : Buffer.from(JSON.stringify(redacted)).toString("latin1");
  }
}

function parsed(literal: string): unknown {
  return parseIfJson(Buffer.from(literal, "latin1").toString());
}

/** A form of the token whose letters and digits are not escaped. */
interface TokenForm {
  /** The empty text if no run is long enough. */
  readonly anchor: string;
  /** Finds the form in JSON, and rarely anything else. */
  readonly pattern: RegExp;
  readonly maxBytes: number;
}

function tokenForm(form: string): TokenForm {
  const runs = form.match(RUNS) ?? [];
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one), "");
  const pattern = form.replace(/[^A-Za-z0-9]+/g, (signs) => {
    const bytes = literally(Buffer.from(signs).toString("latin1")).replace(/\\[+/]/g, "[+/_-]");
    const others = signs.length - 1;
    return `(?:${bytes}|.{0,${3 * others}}?[\\\\%&].{1,${MAX_BYTES * signs.length}}?)`;
  });
  return {
    anchor: QUICK_ANCHOR.exec(longest)?.[0] ?? longest,
    pattern: new RegExp(pattern),
    maxBytes: form.length * (MAX_BYTES + 3),
  };
}

function holds(body: Buffer, { anchor, pattern, maxBytes }: TokenForm): boolean {
  if (!body.includes(anchor)) return false;
  for (let at = 0; at < body.length; at += CHUNK_BYTES)
    if (pattern.test(body.toString("latin1", at, at + CHUNK_BYTES + maxBytes))) return true;
  return false;
}
