/** Worker thread with a {@link Lander}. */
import { workerData } from "node:worker_threads";
import { collectYoung } from "../../common/free-memory.ts";
import { answerTasks } from "../../common/threads/thread.ts";
import type { LandingTask, LandingTaskOf } from "../pages/tasks.ts";
import { Lander, type LanderConfig } from "./land-page.ts";

const options: LanderConfig = workerData;
const lander = new Lander(options);

type Tasks = { readonly [Kind in LandingTask["kind"]]: LandingTaskOf<Kind> & { readonly kind: Kind } };

function perform<Kind extends keyof Tasks>(task: Tasks[Kind]): unknown {
  /** Each method takes the tasks of its name. */
  const methods: { readonly [Name in keyof Tasks]: (task: Tasks[Name]) => unknown } = lander;
  return methods[task.kind](task);
}

/** Bytes of pages after which half of a young generation is garbage. */
const BYTES_OF_GARBAGE = 1024 * 1024;
let bytesRead = 0;

/** Bytes are counted before a page is read, because they move while it is. */
answerTasks<LandingTask>(
  (task) => {
    if (task.kind === "page") bytesRead += task.body.bytes.byteLength;
    return perform(task);
  },
  () => {
    if (bytesRead < BYTES_OF_GARBAGE) return;
    bytesRead = 0;
    collectYoung();
  },
);
