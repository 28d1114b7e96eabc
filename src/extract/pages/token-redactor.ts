/**
 * The API token in what the service sends: in links that carry it, in texts that quote it. It is replaced in the bytes of
 * a body, before anything of it is parsed, so that nothing behind this file ever sees it.
 *
 * Most bodies do not have it, and a search for a few bytes says so in a hundredth of the time that parsing takes. Only
 * those that may have it are read text by text.
 */
import { redactor, type Secret, secretForms } from "../../common/secret.ts";

/** A shorter token may be an ordinary word: it is not looked for. */
const MIN_ECHO_LENGTH = 8;

/** What no serializer escapes: a text with such a run has it in JSON too, however the rest of it is written there. */
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
    this.#anchors = token.reveal().length < MIN_ECHO_LENGTH ? [] : anchorsOf(secretForms(token));
  }

  /**
   * The same JSON with `[redacted]` in its `texts`, and how many of these were changed, by the name of the member that they
   * belong to. Undefined: the token is not in the body. What is no JSON is left as it is: whoever parses it refuses it.
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

  /** The literal without the token; undefined: it does not have it. */
  #redacted(literal: string): string | undefined {
    if (!this.#anchors.some((anchor) => literal.includes(anchor))) return undefined;
    const text = textOf(literal);
    if (text === undefined) return undefined;
    const redacted = this.#redact(text);
    return redacted === text ? undefined : JSON.stringify(redacted);
  }
}

/** Behind the quote that ends the literal; the end of the body where none does. */
function endOfLiteral(body: string, start: number): number {
  for (let at = start + 1; at < body.length; at++) {
    if (body[at] === QUOTE) return at + 1;
    if (body[at] === "\\") at += 1;
  }
  return body.length;
}

/**
 * The longest run of each form of the token that is never escaped. Where a form has none, the empty run, which is
 * everywhere: then every text of every body is read.
 */
function anchorsOf(forms: readonly string[]): string[] {
  const runs = new Set(forms.map(longestRun));
  return [...runs].filter((run) => ![...runs].some((other) => other !== run && run.includes(other)));
}

function longestRun(form: string): string {
  const runs = form.match(NEVER_ESCAPED) ?? [];
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one), "");
  return longest.length < MIN_ANCHOR_LENGTH ? "" : longest;
}

/** Undefined: it is no literal of JSON. */
function textOf(literal: string): string | undefined {
  try {
    return String(JSON.parse(literal));
  } catch {
    // The body cannot be parsed then, and whoever does says so.
    return undefined;
  }
}
