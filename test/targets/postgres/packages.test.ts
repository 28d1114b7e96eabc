import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { registerHooks } from "node:module";
import { suite, test } from "node:test";
import { packagePath } from "../../../src/common/package-root.ts";
import { POSTGRES_PEERS } from "../../../src/targets/postgres/connect.ts";
import { postgres } from "../../../src/targets/postgres/postgres.ts";
import { failsWith } from "../../failing.ts";

suite("the packages for PostgreSQL", () => {
  test("are asked for in the versions that package.json has", async () => {
    const { peerDependencies, devDependencies } = JSON.parse(
      await readFile(packagePath("package.json"), "utf8"),
    );
    const names = ["pg", "pg-copy-streams"];
    assert.deepEqual(
      names.map((name) => `${name}@${peerDependencies[name]}`),
      POSTGRES_PEERS,
    );
    for (const name of names) assert.equal(devDependencies[name], peerDependencies[name]);
  });

  for (const missing of ["pg", "pg-copy-streams"]) {
    test(`are told to be installed where ${missing} is missing`, async () => {
      const hooks = registerHooks({
        resolve: (specifier, context, next) => {
          if (specifier !== missing) return next(specifier, context);
          throw Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" });
        },
      });
      try {
        const target = postgres({ url: "postgres://loader@127.0.0.1:1/reports" });
        const { message } = await failsWith(
          "config.invalid",
          target.last(null, new AbortController().signal),
        );
        assert.equal(
          message,
          `PostgreSQL as a target needs packages that are not installed; install them with: npm install --global ${POSTGRES_PEERS.join(" ")} (without --global where content-warehouse is a dependency of a project).`,
        );
      } finally {
        hooks.deregister();
      }
    });
  }
});
