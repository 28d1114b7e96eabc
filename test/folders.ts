import { mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../src/common/tree.ts";

/** A test, or `{ after }` of the test runner for all of a file: then call it outside of hooks. */
interface Until {
  readonly after: (remove: () => Promise<void>) => void;
}

/** A folder with these files, which is removed when the test has ended. */
export async function temporaryFolder(
  until: Until,
  files: Readonly<Record<string, string | Buffer | null>> = {},
): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "warehouse-test-")));
  until.after(() => removeTree(folder));
  for (const [name, text] of Object.entries(files)) {
    if (text !== null) await writeFile(join(folder, name), text);
  }
  return folder;
}
