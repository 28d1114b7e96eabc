import { setTimeout as delay } from "node:timers/promises";
import { codeOf } from "../src/common/errors.ts";
import { createService, type Service } from "../src/service/service.ts";

const ATTEMPTS = 20;

/**
 * A content set at the port that an earlier service had, so that all nights read one instance; 0: any. Between two nights
 * the port is free, and another process may have it for a moment.
 */
export async function serviceAt(options: { readonly data: string; readonly port: number }): Promise<Service> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await createService(options);
    } catch (thrown) {
      const isTaken = thrown instanceof Error && codeOf(thrown.cause) === "EADDRINUSE";
      if (!isTaken || attempt === ATTEMPTS) throw thrown;
      await delay(100);
    }
  }
}
