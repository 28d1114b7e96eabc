/** All that a run needs before it begins, in order. */
import { FORECAST } from "./forecast.ts";
import { MACHINE } from "./machine.ts";
import { SERVICE } from "./service.ts";
import type { Step } from "./step.ts";
import { OBSERVERS, TARGETS } from "./targets.ts";
import { CURRENT_RUN, FOLDER } from "./warehouse.ts";

export const PRECONDITIONS: readonly Step[] = [
  ...MACHINE,
  ...FOLDER,
  ...TARGETS,
  ...CURRENT_RUN,
  ...SERVICE,
  ...OBSERVERS,
  ...FORECAST,
];
