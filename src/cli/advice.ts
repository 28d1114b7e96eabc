/** Advised commands, in the form that works where this one was typed. */
import { isAbsolute, relative } from "node:path";
import { type CliEnvironment, warehouseFolder } from "./command.ts";

/** Completes a command: `audit` becomes `npx content-warehouse audit --warehouse first-look`. */
type CommandAdvice = (words: string) => string;

/**
 * `warehouse`: absolute path of the folder that the commands are about, which is named unless they find it by themselves.
 * `config`: configuration file that was named.
 */
export async function commandAdvice(
  { env, cwd }: Pick<CliEnvironment, "env" | "cwd">,
  { warehouse, config }: { readonly warehouse?: string; readonly config?: string | undefined } = {},
): Promise<CommandAdvice> {
  // npm sets it for what `npx` and `npm run` start, and then no shell may find the command.
  const program = env.npm_command === undefined ? "content-warehouse" : "npx content-warehouse";
  // A configuration that cannot be read finds no warehouse.
  const flags = { ...(config !== undefined && { config }) };
  const found = warehouse && (await warehouseFolder({ env, cwd, flags }).catch(() => undefined));
  const named = config === undefined ? "" : ` --config ${shellWord(config)}`;
  if (warehouse === undefined || found === warehouse) return (words) => `${program} ${words}${named}`;
  const inside = relative(cwd, warehouse) || ".";
  const path = inside.startsWith("..") || isAbsolute(inside) ? warehouse : inside;
  return (words) => `${program} ${words} --warehouse ${shellWord(path)}${named}`;
}

function shellWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
