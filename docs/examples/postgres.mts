/**
 * A configuration that delivers each run to PostgreSQL, into the schema `content_warehouse`.
 *
 *     npm install --global pg@8.23.1 pg-copy-streams@7.0.0
 *     PGPASSWORD=... content-warehouse run nightly --sample --config ./docs/examples/postgres.mts
 *
 * What the address leaves out comes from PGHOST, PGUSER and the like; the password comes from PGPASSWORD or PGPASSFILE,
 * never from here. Grant access by ALTER DEFAULT PRIVILEGES: each delivery makes a schema of its own.
 */
import { defineConfig, postgres } from "content-warehouse";

export default defineConfig({
  targets: [postgres({ url: "postgres:///reports" })],
});
