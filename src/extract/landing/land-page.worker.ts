/** A thread of a {@link Lander}. */
import { workerData } from "node:worker_threads";
import { collectYoung } from "../../common/gc.ts";
import { answerTasks } from "../../common/threads/thread.ts";
import { Lander, type LanderOptions } from "./land-page.ts";
import type { LandingTask } from "./tasks.ts";

const options: LanderOptions = workerData;
const lander = new Lander(options);

/** Pages of so many bytes, as they came, leave half of a young generation behind. */
const BYTES_OF_GARBAGE = 1024 * 1024;
let bytesRead = 0;

/** The bytes of a page move to another place while it is read: they are counted before. */
answerTasks<LandingTask>(
  (task) => {
    if (task.kind === "page") bytesRead += task.body.bytes.byteLength;
    // Each method takes the tasks of its name.
    return lander[task.kind](task as never);
  },
  () => {
    if (bytesRead < BYTES_OF_GARBAGE) return;
    bytesRead = 0;
    collectYoung();
  },
);
