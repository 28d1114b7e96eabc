/**
 * Removes the API token from responses that repeat it, such as in links. The bytes of a body are changed before they are
 * parsed, so that no other code sees the token.
 *
 * A search for a few bytes takes a hundredth of the time of parsing and shows that most bodies do not hold the token. Only
 * the others are read string by string.
 */
import { redactor, type Secret, secretForms } from "../../common/secret.ts";

/** A shorter token may be an ordinary word, so it is not looked for. */
const MIN_TOKEN_LENGTH = 8;

/** A run of characters that no serializer escapes, so that it stands in JSON as it is. */
const NEVER_ESCAPED = /[A-Za-z0-9._~%-]+/g;
/** Shorter runs are in every body. */
const MIN_ANCHOR_LENGTH = 4;

const QUOTE = '"';
const COLON_NEXT = /[ \n\r\t]*:/y;

export class TokenRedactor {
  readonly #redact: (text: string) => string;
  readonly #anchors: readonly string[];

  constructor(token: Secret) {
    this.#redact = redactor([token]);
    this.#anchors = token.reveal().length < MIN_TOKEN_LENGTH ? [] : anchorsOf(secretForms(token));
  }

  /**
   * Replaces the token by `[redacted]`. Returns the new JSON and the number of changed `texts` by the name of their member;
   * `undefined` if the token is not in the body. A body that is not JSON is left to the parser to refuse.
   */
  redact(bytes: Buffer) {
    if (!this.#anchors.some((anchor) => bytes.includes(anchor))) return undefined;
    const body = bytes.toString();
    const texts = new Map<string, number>();
    const pieces: string[] = [];
    let copied = 0;
    let name = "";
    let end = 0;
    for (let start = body.indexOf(QUOTE); start !== -1; start = body.indexOf(QUOTE, end)) {
      end = endOfLiteral(body, start);
      const literal = body.slice(start, end);
      COLON_NEXT.lastIndex = end;
      if (COLON_NEXT.test(body)) name = literal;
      const changed = this.#redacted(literal);
      if (changed === undefined) continue;
      pieces.push(body.slice(copied, start), changed);
      copied = end;
      const shown = this.#redact(textOf(name) ?? "");
      texts.set(shown, (texts.get(shown) ?? 0) + 1);
    }
    return copied === 0 ? undefined : { bytes: Buffer.from(pieces.join("") + body.slice(copied)), texts };
  }

  /** The literal without the token; `undefined` if it does not hold it. */
  #redacted(literal: string): string | undefined {
    if (!this.#anchors.some((anchor) => literal.includes(anchor))) return undefined;
    const text = textOf(literal);
    if (text === undefined) return undefined;
    const redacted = this.#redact(text);
    return redacted === text ? undefined : JSON.stringify(redacted);
  }
}

/** Position after the quote that ends the literal, or the end of the body. */
function endOfLiteral(body: string, start: number): number {
  for (let at = start + 1; at < body.length; at++) {
    if (body[at] === QUOTE) return at + 1;
    if (body[at] === "\\") at += 1;
  }
  return body.length;
}

/** The longest run of each form of the token; the empty run if it has none: then every string of every body is read. */
function anchorsOf(forms: readonly string[]): string[] {
  const runs = new Set(forms.map(longestRun));
  return [...runs].filter((run) => ![...runs].some((other) => other !== run && run.includes(other)));
}

function longestRun(form: string): string {
  const runs = form.match(NEVER_ESCAPED) ?? [];
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one), "");
  return longest.length < MIN_ANCHOR_LENGTH ? "" : longest;
}

/** `undefined` if it is not a JSON string. */
function textOf(literal: string): string | undefined {
  try {
    return String(JSON.parse(literal));
  } catch {
    // The parser will refuse the body.
    return undefined;
  }
}
