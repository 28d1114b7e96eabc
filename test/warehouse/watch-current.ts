/** Reads a link again and again until it is told to stop, then says everything that it saw. */
import { readlinkSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

const seen = new Set<string>();
let watching = true;

function look(): string {
  try {
    return readlinkSync(workerData);
  } catch (thrown) {
    return String(thrown);
  }
}

parentPort?.on("message", () => {
  watching = false;
});

parentPort?.postMessage("watching");
while (watching) {
  for (let glance = 0; glance < 1_000; glance++) seen.add(look());
  await new Promise(setImmediate);
}
parentPort?.postMessage([...seen].toSorted());
parentPort?.close();
