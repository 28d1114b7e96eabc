/** Commands that a command suggests: to be pasted as they are, and about the same warehouse, configuration and target. */
import { shellWord } from "../show/terminal.ts";

/** Options as somebody gave them; undefined: not given. */
export interface Given {
  /** In the place of the warehouse and the configuration. */
  readonly chosen?:
    | { readonly fleet: { readonly path: string }; readonly instance: { readonly name: string } }
    | undefined;
  readonly warehouse?: string | undefined;
  readonly config?: string | undefined;
  readonly target?: string | undefined;
}

/** `content-warehouse deliver --warehouse /srv/warehouse --config cw.config.json`, quoted for a shell. */
export function suggested(command: string, given: Given): string {
  const { chosen, warehouse, config, target } = given;
  const places =
    chosen === undefined
      ? { warehouse, config }
      : { instance: chosen.instance.name, fleet: chosen.fleet.path };
  const options = Object.entries({ target, ...places }).flatMap(([name, value]) =>
    value === undefined ? [] : [` --${name} ${shellWord(value)}`],
  );
  return `content-warehouse ${command}${options.join("")}`;
}
