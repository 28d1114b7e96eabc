/**
 * Installs what the tests with other engines need, before they begin: two tests would install the same at once, and the
 * time is not that of a test. A test that needs what cannot be installed says so.
 */
import { globalSetup as makeSamples } from "../global-setup.ts";
import { installEngine } from "./lake-engine.ts";
import { DBT, IBIS, installerFolder, OBSERVERS, pythonWith } from "./python.ts";
import { s3Program } from "./s3-server.ts";

export { globalTeardown } from "../global-setup.ts";

/** The longest first. */
const INSTALLED: readonly (() => Promise<unknown>)[] = [
  () => installEngine("spark"),
  s3Program,
  ...DBT.map((packages) => () => pythonWith(packages)),
  () => installEngine("duckdb"),
  () => pythonWith(IBIS),
  () => pythonWith(OBSERVERS),
];

export async function globalSetup(): Promise<void> {
  await installerFolder().catch(() => undefined);
  const rest = INSTALLED.values();
  const installRest = async () => {
    for (const install of rest) await install().catch(() => undefined);
  };
  await Promise.all([installRest(), installRest()]);
  await makeSamples();
}
