/** For `node --import`: the process dies of SIGKILL once it has put so many objects (DIE_AT) into a lake's folder. */
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const { link } = fs;
let left = Number(process.env.DIE_AT);

fs.link = async (from, to) => {
  await link(from, to);
  if (String(to).includes("/lake/") && --left <= 0) process.kill(process.pid, "SIGKILL");
};
syncBuiltinESMExports();
