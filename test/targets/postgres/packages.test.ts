import assert from "node:assert/strict";
import { test } from "node:test";
import { POSTGRES_PEERS } from "../../../src/targets/postgres/connect.ts";
import { postgres } from "../../../src/targets/postgres/postgres.ts";
import { failsWith } from "../../failing.ts";
import { NEVER } from "../../never.ts";
import { withoutPackage } from "../../without-package.ts";

for (const missing of ["pg", "pg-copy-streams"]) {
  test(`the packages for PostgreSQL are told to be installed where ${missing} is missing`, async (t) => {
    t.after(withoutPackage(missing));
    const target = postgres({ url: "postgres://loader@127.0.0.1:1/reports" });
    const { message } = await failsWith("config.invalid", target.last(null, NEVER));
    assert.equal(
      message,
      `PostgreSQL as a target needs packages that are not installed; install them with: npm install --global ${POSTGRES_PEERS.join(" ")} (without --global if content-warehouse is a dependency of a project).`,
    );
  });
}
