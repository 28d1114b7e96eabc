import { execFile } from "node:child_process";
import { chmod } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const SCRIPT = fileURLToPath(new URL("./ordinary-user.ts", import.meta.url));

/** For tests in which root goes before an ordinary user. */
export const AS_ROOT = {
  skip: process.getuid?.() !== 0 && "only root can make files of another user",
};

/** Does an action of `ordinary-user.ts` in a folder as a user whom modes bind, and returns what it prints. */
export async function asOrdinaryUser(folder: string, action: string, ...more: string[]): Promise<unknown> {
  await chmod(dirname(folder), 0o755);
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, folder, action, ...more]);
  return JSON.parse(stdout);
}
