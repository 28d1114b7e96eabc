/** A worker thread of a pool: performs tasks by the function that its module makes. */
import { parentPort, workerData } from "node:worker_threads";
import { answerTasks, makePerformer, type WorkerSetup } from "./threads.ts";

const setup: WorkerSetup = workerData;
if (parentPort !== null) answerTasks(parentPort, await makePerformer(setup));
