/** Where the settings of a command come from. */
export interface Settings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. Throws where the folder was removed, so only those who need it ask. */
  readonly cwd: string;
  /** Takes the log. */
  readonly err: { write(text: string): unknown };
}

export function processSettings(): Settings {
  return {
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    err: process.stderr,
  };
}
