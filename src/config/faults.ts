/** What is wrong with a configuration, all of it at once. */
import { asWarehouseError, WarehouseError } from "../common/errors.ts";

export interface ConfigFault {
  readonly code: "config.invalid" | "config.missing_service";
  /** Faults of the token have a line of their own in `check`. */
  readonly about: "settings" | "token";
  /** Where (file, variable or option, and key), what was expected, what was found. */
  readonly sentence: string;
}

/** One sentence where one thing is wrong, else a line for each. */
export class ConfigError extends WarehouseError {
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[], cause?: unknown) {
    const isMissing = faults.every(({ code }) => code === "config.missing_service");
    super(isMissing ? "config.missing_service" : "config.invalid", messageOf(faults), { cause });
    this.faults = faults;
  }
}

function messageOf(faults: readonly ConfigFault[]): string {
  const [first, second] = faults;
  if (first !== undefined && second === undefined) return first.sentence;
  const lines = faults.map(({ sentence }) => `\n  ${sentence}`);
  return `The configuration has ${faults.length} faults:${lines.join("")}`;
}

export function invalid(sentence: string, cause?: unknown): ConfigError {
  return new ConfigError([{ code: "config.invalid", about: "settings", sentence }], cause);
}

export function invalidToken(sentence: string, cause?: unknown): ConfigError {
  return new ConfigError([{ code: "config.invalid", about: "token", sentence }], cause);
}

export function missing(about: ConfigFault["about"], sentence: string): ConfigError {
  return new ConfigError([{ code: "config.missing_service", about, sentence }]);
}

/** Waits for all that is made of a configuration, and throws the faults of all of it, after those found before. */
export async function throwFaults(
  before: readonly ConfigFault[],
  made: readonly Promise<unknown>[],
): Promise<void> {
  const settled = await Promise.allSettled(made);
  const errors = settled.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  const other = errors.find((error) => !(error instanceof ConfigError));
  if (other !== undefined) throw asWarehouseError(other);
  const after = errors.flatMap((error) => (error instanceof ConfigError ? error.faults : []));
  // What a file that is wrong leaves out may be what it meant to say.
  const told = before.length === 0 ? after : after.filter(({ code }) => code !== "config.missing_service");
  const faults = [...before, ...told];
  if (faults.length > 0) throw new ConfigError(faults, errors[0]);
}
