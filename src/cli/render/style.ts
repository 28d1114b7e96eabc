/** Colours of a terminal, for the words that a look should catch. */

export type Paint = (text: string) => string;

export interface Style {
  readonly good: Paint;
  readonly poor: Paint;
  readonly faint: Paint;
}

const asIs: Paint = (text) => text;
const sgr =
  (code: number): Paint =>
  (text) =>
    `\u001b[${code}m${text}\u001b[0m`;

export const PLAIN: Style = { good: asIs, poor: asIs, faint: asIs };
const COLOURED: Style = { good: sgr(32), poor: sgr(33), faint: sgr(2) };

export interface StyleInputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
  /** False: `--no-color`. */
  readonly color: boolean;
}

/** Colours only for a terminal, and not where `NO_COLOR` is set to anything (no-color.org) or `TERM` is `dumb`. */
export function styleFor({ env, isTerminal, color }: StyleInputs): Style {
  const refused = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return isTerminal && color && !refused ? COLOURED : PLAIN;
}
