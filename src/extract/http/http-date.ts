const TIME = String.raw`(?<time>\d\d:\d\d:\d\d)`;
const WEEKDAY = "(?<weekday>[A-Z][a-z]{2})";
const MONTH = "(?<month>[A-Z][a-z]{2})";

/** The three forms of a date that RFC 9110 has every reader accept: today's, that of RFC 850, and that of `asctime`. */
const FORMS = [
  new RegExp(String.raw`^${WEEKDAY}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^${WEEKDAY}[a-z]*day, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`),
  new RegExp(String.raw`^${WEEKDAY} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/** An instant as HTTP writes it, `Sun, 06 Nov 1994 08:49:37 GMT`; `null` for anything else, impossible dates too. */
export function parseHttpDate(text: string | null): Date | null {
  for (const form of FORMS) {
    const { weekday, day = "", month, year = "", time } = form.exec(text ?? "")?.groups ?? {};
    // Of a year in two digits the weekday tells the century.
    for (const century of year.length === 2 ? ["20", "19"] : [""]) {
      const today = `${weekday}, ${day.replace(" ", "0")} ${month} ${century}${year} ${time} GMT`;
      const date = new Date(today);
      if (date.toUTCString() === today) return date;
    }
  }
  return null;
}

/** What a service asks for in `Retry-After`, in milliseconds from its answer; a header that cannot be read is its text. */
export type RetryAfter = number | string | null;

/**
 * Reads a `Retry-After` header: whole seconds, of which a fraction counts as one more, or a date, which is reckoned from
 * the answer's own `Date` because clocks differ. Of several the longest counts.
 *
 * @param answeredAt the answer's `Date`, or this machine's clock where it has none
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
