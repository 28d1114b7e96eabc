/** A worker thread of a pool. */
import { serveTasks } from "./threads.ts";

await serveTasks();
