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
/** Node looks for a text of up to seven bytes by its first one, ten times as fast where that is rare as by any other way. */
const MAX_ANCHOR_LENGTH = 6;
/** As they were counted in pages. */
const RAREST_FIRST = "~%XQYJVGUzKOjIMWDNqHLFBERAPZSxCT.wk-gymhv78514936p2u_b0ofncrtsdilae";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

export interface RedactedBody {
  /** The same JSON, with `[redacted]` in its texts. */
  readonly bytes: Buffer;
  /** Texts that were changed, by the name of the member that they belong to. */
  readonly texts: ReadonlyMap<string, number>;
}

export class EchoRedactor {
  readonly #redact: (text: string) => string;
  readonly #anchors: readonly Buffer[];

  constructor(token: Secret) {
    this.#redact = redactor([token]);
    this.#anchors = token.reveal().length < MIN_ECHO_LENGTH ? [] : anchorsOf(secretForms(token));
  }

  /** Undefined: the token is not in the body. What is no JSON is left as it is: whoever parses it refuses it. */
  redact(bytes: Buffer): RedactedBody | undefined {
    if (!this.#anchors.some((anchor) => bytes.includes(anchor))) return undefined;
    const pieces: Buffer[] = [];
    const texts = new Map<string, number>();
    let copied = 0;
    for (const { start, end, name } of suspectsIn(bytes, new Hits(bytes, this.#anchors))) {
      const changed = this.#redacted(bytes.toString("utf8", start, end));
      if (changed === undefined) continue;
      pieces.push(bytes.subarray(copied, start), Buffer.from(changed));
      copied = end;
      const shown = this.#redact(textOf(name) ?? "");
      texts.set(shown, (texts.get(shown) ?? 0) + 1);
    }
    if (copied === 0) return undefined;
    return { bytes: Buffer.concat([...pieces, bytes.subarray(copied)]), texts };
  }

  /** The literal without the token; undefined: it does not have it. */
  #redacted(literal: string): string | undefined {
    const text = textOf(literal);
    if (text === undefined) return undefined;
    const redacted = this.#redact(text);
    return redacted === text ? undefined : JSON.stringify(redacted);
  }
}

/** A literal that may have the token in it, from quote to quote. */
interface Suspect {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Literal of the member's name that it belongs to, or is. */
  readonly name: string;
}

/** Which quotes begin a literal is known only by those before them, so all are looked at, up to the last hit. */
function* suspectsIn(bytes: Buffer, hits: Hits): Generator<Suspect> {
  let hit = hits.next(0);
  let nameStart = 0;
  let nameEnd = 0;
  for (let start = 0; start < bytes.length && hit !== NOWHERE; start++) {
    if (bytes[start] !== QUOTE) continue;
    const end = endOfLiteral(bytes, start);
    if (isFollowedByColon(bytes, end)) {
      nameStart = start;
      nameEnd = end;
    }
    if (hit < start) hit = hits.next(start);
    if (hit < end) {
      yield { start, end, name: bytes.toString("utf8", nameStart, nameEnd) };
      hit = hits.next(end);
    }
    start = end - 1;
  }
}

/**
 * Of each form of the token a part of the longest run that is never escaped. Where one has none, the empty run, which is everywhere:
 * then every text of every body is read.
 */
function anchorsOf(forms: readonly string[]): Buffer[] {
  const runs = new Set(forms.map((form) => rarestPart(longestRun(form))));
  const least = [...runs].filter((run) => ![...runs].some((other) => other !== run && run.includes(other)));
  return least.map((run) => Buffer.from(run));
}

function longestRun(form: string): string {
  const runs = form.match(NEVER_ESCAPED) ?? [];
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one), "");
  return longest.length < MIN_ANCHOR_LENGTH ? "" : longest;
}

/** The part that begins with the rarest character. */
function rarestPart(run: string): string {
  const starts = Array.from({ length: Math.max(1, run.length - MAX_ANCHOR_LENGTH + 1) }, (_, start) => start);
  const rank = (start: number) => RAREST_FIRST.indexOf(run.charAt(start));
  const rarest = starts.reduce((one, other) => (rank(other) < rank(one) ? other : one), 0);
  return run.slice(rarest, rarest + MAX_ANCHOR_LENGTH);
}

const NOWHERE = Number.POSITIVE_INFINITY;

/** Where anchors stand in a body, from its beginning to its end. */
class Hits {
  readonly #bytes: Buffer;
  readonly #anchors: readonly Buffer[];
  /** Next place of each anchor. */
  readonly #places: number[];

  constructor(bytes: Buffer, anchors: readonly Buffer[]) {
    this.#bytes = bytes;
    this.#anchors = anchors;
    this.#places = anchors.map(() => -1);
  }

  /** The first place from `from` on, which never goes back. */
  next(from: number): number {
    for (const [which, anchor] of this.#anchors.entries()) {
      if ((this.#places[which] ?? NOWHERE) >= from) continue;
      const place = this.#bytes.indexOf(anchor, from);
      this.#places[which] = place === -1 ? NOWHERE : place;
    }
    return Math.min(...this.#places);
  }
}

/** Behind the quote that ends the literal; the end of the bytes where none does. */
function endOfLiteral(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  return bytes.length;
}

function isFollowedByColon(bytes: Buffer, from: number): boolean {
  let at = from;
  while (isBlank(bytes[at])) at += 1;
  return bytes[at] === COLON;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
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
