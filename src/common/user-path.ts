/** Paths as users write them in flags, variables and configuration files. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { invalidConfig } from "./errors.ts";

/** Expands `~/`, which a shell does only at the beginning of a word. Throws `config.invalid` for `~name`. */
export function expandHome(path: string): string {
  if (!path.startsWith("~")) return path;
  const [first = ""] = path.split("/");
  const home = homedir();
  if (first === "~" && isAbsolute(home)) return join(home, path.slice(1));
  throw invalidConfig(
    first === "~"
      ? 'There is no home folder that "~" could stand for; set HOME, or write the path in full.'
      : `"${first}" could be the home folder of a user or a folder of that name; write the path in full, or "./${path}".`,
  );
}
