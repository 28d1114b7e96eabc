import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { few, long } from "../long.ts";
import { exportFrom, SMALL, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { program } from "./running.ts";

long(
  "a TMPDIR that is not there ends a question with 2, and the sentence names it and the folder",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(3));
    const out = await temporaryFolder(t);
    await mkdir(out, { recursive: true });
    await exportFrom({ url: service.url, out, pipelineUrl: SMALL });
    const TMPDIR = join(out, "no-such-folder");
    const questions = [
      ["sql", "SELECT 1", "--warehouse", out],
      ["verify", "--warehouse", out],
      ["audit", "--warehouse", out],
      ["runs", "show", "--section", "rejects", "--warehouse", out],
      ["report", "--warehouse", out],
    ];
    for (const args of few(questions, 3)) {
      const { code, stdout, stderr } = await program(args, { env: { TMPDIR }, cwd: out });
      assert.deepEqual([code, stdout], [2, ""], `${args[0]}: ${stderr}`);
      assert.ok(stderr.includes(TMPDIR) && /ENOENT.*set TMPDIR/.test(stderr), stderr);
    }
  },
);
