import { registerHooks } from "node:module";

/** As if a package were not installed; gives what ends that, for `t.after`. */
export function withoutPackage(name: string): () => void {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== name && !specifier.startsWith(`${name}/`)) return next(specifier, context);
      throw Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" });
    },
  });
  return () => hooks.deregister();
}
