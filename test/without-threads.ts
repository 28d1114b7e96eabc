/** Loaded before a file of tests: runs in its process start no threads, each of which takes as long as the rest of a small run. */
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";

os.availableParallelism = () => 0;
syncBuiltinESMExports();
