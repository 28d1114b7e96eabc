import { sqlSteps } from "../storage/sql-text.ts";

export const loadSql = sqlSteps(new URL("./sql/", import.meta.url));
