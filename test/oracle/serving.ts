import { parentPort, workerData } from "node:worker_threads";
import { createService } from "../../src/service/service.ts";

/** A thread that serves the folder of its `workerData` and says where. */
const service = await createService({ data: String(workerData) });
parentPort?.postMessage(service.url);
