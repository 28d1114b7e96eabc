/** Dates and waits in HTTP headers. */
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
export function parseHttpDate(text: string | null): Date | null {
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

/**
 * Reads a `Retry-After` header: seconds, rounded up, or a date. The longest of several counts.
 *
 * @param answeredAt the response's `Date`, because clocks differ; this machine's clock if it has none
 */
export function parseRetryAfter(text: string | null, answeredAt: Date): RetryAfter {
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
