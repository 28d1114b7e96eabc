/** Dates in headers. One form is written today; what else is found there is no date. */
const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** An instant as HTTP writes it, `Sun, 06 Nov 1994 08:49:37 GMT`; `null` for anything else, impossible dates too. */
export function parseHttpDate(text: string | null): Date | null {
  if (text === null || !IMF_FIXDATE.test(text)) return null;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toUTCString() === text ? date : null;
}

/**
 * What a `Retry-After` header asks for, as milliseconds from its answer: seconds in digits, or a date, which is
 * reckoned from the answer's own `Date` because clocks differ. `null` where it asks for nothing that can be followed:
 * another form, a moment that is past, two headers.
 *
 * @param answeredAt the answer's `Date`, or this machine's clock where it has none
 */
export function parseRetryAfter(text: string | null, answeredAt: Date): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = parseHttpDate(text);
  const milliseconds = date === null ? 0 : date.getTime() - answeredAt.getTime();
  return milliseconds > 0 ? milliseconds : null;
}
