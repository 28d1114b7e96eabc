/** Reads the headers of a response: its date, how long to wait, and how its body is written. */
import type { IncomingHttpHeaders } from "node:http";

const TIME = String.raw`(?<time>\d\d:\d\d:\d\d)`;
const WEEKDAY = "(?<weekday>[A-Z][a-z]{2})";
const MONTH = "(?<month>[A-Z][a-z]{2})";

/** The three forms of a date in RFC 9110: the preferred one, that of RFC 850, and that of `asctime`. */
const FORMS = [
  new RegExp(String.raw`^${WEEKDAY}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^${WEEKDAY}[a-z]*day, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`),
  new RegExp(String.raw`^${WEEKDAY} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/** An HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`; `null` for anything else, and for impossible dates. */
function parseHttpDate(text: string | null): Date | null {
  for (const form of FORMS) {
    const { weekday, day = "", month, year = "", time } = form.exec(text ?? "")?.groups ?? {};
    // The weekday tells the century of a year in two digits.
    for (const century of year.length === 2 ? ["20", "19"] : [""]) {
      const today = `${weekday}, ${day.replace(" ", "0")} ${month} ${century}${year} ${time} GMT`;
      const date = new Date(today);
      if (date.toUTCString() === today) return date;
    }
  }
  return null;
}

/** The wait in a `Retry-After` header, in milliseconds; the header's text if it cannot be read; `null` without one. */
export type RetryAfter = number | string | null;

/** `now`: this machine's clock, for a wait until a date in a response that has no date itself, because clocks differ. */
export function readHeaders(headers: IncomingHttpHeaders, now: Date) {
  const date = parseHttpDate(header(headers, "date"));
  return {
    contentType: header(headers, "content-type"),
    contentEncoding: header(headers, "content-encoding"),
    date,
    retryAfter: parseRetryAfter(header(headers, "retry-after"), date ?? now),
  };
}

/** A header that came several times is joined with commas. */
function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
}

/** Seconds, rounded up, or a date. The longest of several counts. */
function parseRetryAfter(text: string | null, answeredAt: Date): RetryAfter {
  if (text === null) return null;
  const waits = text.split(/,\s*(?=[A-Z]|\d[\d.]*\s*(?:,|$))/).map((each) => waitMs(each.trim(), answeredAt));
  const longest = Math.max(...waits.filter((wait) => wait !== null));
  return longest < 0 ? text : longest;
}

function waitMs(text: string, answeredAt: Date): number | null {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text)) * 1000;
  const date = parseHttpDate(text);
  return date && Math.max(0, date.getTime() - answeredAt.getTime());
}
