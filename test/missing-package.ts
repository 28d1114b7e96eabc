import { type ResolveHookSync, registerHooks } from "node:module";
import type { TestContext } from "node:test";

/** Until the test ends, this package is not installed. */
export function missingPackage(t: TestContext, missing: string): void {
  const resolve: ResolveHookSync = (name, context, next) => {
    if (name !== missing) return next(name, context);
    throw Object.assign(new Error(`there is no ${missing}`), { code: "ERR_MODULE_NOT_FOUND" });
  };
  const hooks = registerHooks({ resolve });
  t.after(() => hooks.deregister());
}
