/** Worker thread with a {@link Lander}. */
import { workerData } from "node:worker_threads";
import { answerTasks } from "../../common/threads/threads.ts";
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

answerTasks<LandingTask>(perform);
