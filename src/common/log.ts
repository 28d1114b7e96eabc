/** Writes the log: one line for each event, without secrets. */
import type { Clock } from "./clock.ts";
import { printable } from "./printable.ts";
import { redactor, type Secret } from "./secret.ts";

/** From most to least output. */
const LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LEVELS)[number];

/** Fields of a log line. Headers, bodies, query strings and values of documents are left out on purpose. */
const FIELDS = [
  "run",
  "file",
  "pages",
  "items",
  "bytes",
  "method",
  "path",
  "status",
  "attempt",
  "milliseconds",
  "code",
] as const;

/** `path`: path of a request without its query. `milliseconds`: a duration or a wait. */
export type LogFields = { readonly [Field in (typeof FIELDS)[number]]?: string | number | null };

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogSettings {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Replaced wherever they occur in a line. */
  readonly secrets: readonly Secret[];
  readonly clock: Clock;
  /** Receives whole lines, each with its line feed. */
  readonly write: (line: string) => void;
}

/** Makes a log. As JSON a line is `{"level":"info","time":"2026-11-20T02:00:00.000Z","pages":3,"msg":"pages read"}`. */
export function createLog(options: LogSettings): Log {
  const redact = redactor(options.secrets);
  const show = options.format === "json" ? (line: string) => line : textLine;
  const least = LEVELS.indexOf(options.level);
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LEVELS.indexOf(level) < least) return;
      const time = new Date(options.clock.now()).toISOString();
      const line = JSON.stringify({ level, time, ...allowed(fields), msg: printable(message, 1000) });
      options.write(redact(show(`${line}\n`)));
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Drops fields that are not on the list, which JavaScript callers may pass. */
function allowed(fields: LogFields): LogFields {
  const given = FIELDS.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === "string" ? printable(value) : value]),
  );
}

/** `02:00:00 warn  the page came again pages=3 status=503` */
function textLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, string | number | null>;
  const details = Object.entries(fields).map(([name, value]) => ` ${name}=${value}`);
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${msg}${details.join("")}\n`;
}
