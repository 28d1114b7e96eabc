/**
 * Removes the API token from responses that repeat it, such as in links. The bytes of a body are changed before they are
 * parsed, so that no other code sees the token.
 *
 * A search for a few bytes takes a hundredth of the time of parsing and shows that most bodies do not hold the token. Only
 * the others are read string by string.
 */
import { parseIfJson } from "../../common/json.ts";
import { redactor, type Secret, secretForms } from "../../common/secret.ts";

/** A shorter token may be an ordinary word, so it is not looked for. */
const MIN_TOKEN_LENGTH = 8;

/** A run of characters that no serializer escapes, so that it stands in JSON as it is. */
const NEVER_ESCAPED = /[A-Za-z0-9._~%-]+/g;
/** Shorter runs are in every body. */
const MIN_ANCHOR_LENGTH = 4;

/** A string of JSON, with the colon after it if it is a name. */
const LITERAL = /("[^"\\]*(?:\\.[^"\\]*)*")([ \n\r\t]*:|)/gs;

export class TokenRedactor {
  readonly #redact: (text: string) => string;
  readonly #anchors: readonly string[];

  constructor(token: Secret) {
    this.#redact = redactor([token]);
    // Most forms of a token have the same run, and each body is searched for every run.
    const runs = new Set(secretForms(token).map(longestRun));
    this.#anchors = token.reveal().length < MIN_TOKEN_LENGTH ? [] : [...runs];
  }

  /**
   * Replaces the token by `[redacted]`. Returns the new JSON and the number of changed `texts` by the name of their member;
   * `undefined` if the token is not in the body. A body that is not JSON is left to the parser to refuse.
   */
  redact(bytes: Buffer) {
    if (!this.#anchors.some((anchor) => bytes.includes(anchor))) return undefined;
    const texts = new Map<string, number>();
    let name = "";
    const body = bytes.toString().replace(LITERAL, (whole, literal: string, colon: string) => {
      if (colon !== "") name = literal;
      const changed = this.#redacted(literal);
      if (changed === undefined) return whole;
      const shown = this.#redact(String(parseIfJson(name) ?? ""));
      texts.set(shown, (texts.get(shown) ?? 0) + 1);
      return changed + colon;
    });
    return texts.size === 0 ? undefined : { bytes: Buffer.from(body), texts };
  }

  /** The literal without the token; `undefined` if it does not hold it. */
  #redacted(literal: string): string | undefined {
    if (!this.#anchors.some((anchor) => literal.includes(anchor))) return undefined;
    const text = parseIfJson(literal);
    // The parser will refuse the body.
    if (typeof text !== "string") return undefined;
    const redacted = this.#redact(text);
    return redacted === text ? undefined : JSON.stringify(redacted);
  }
}

/** The longest run of a form of the token; the empty run if it has none: then every string of every body is read. */
function longestRun(form: string): string {
  const runs = form.match(NEVER_ESCAPED) ?? [];
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one), "");
  return longest.length < MIN_ANCHOR_LENGTH ? "" : longest;
}
