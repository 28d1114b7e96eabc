/** A worker thread of a pool: performs tasks by the function that the module of the pool makes. */
import { parentPort } from "node:worker_threads";
import { answerTasks } from "./threads.ts";

if (parentPort !== null) answerTasks(parentPort);
