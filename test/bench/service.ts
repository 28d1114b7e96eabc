/** The embedded service over a content set, in a process of its own: prints its address and a token. */
import { createService } from "../../src/service/service.ts";

const [, , data = ""] = process.argv;
const service = await createService({ data, port: 0 });
const [token] = service.contentSet.tokens.keys();
process.stdout.write(`${JSON.stringify({ url: service.url, token })}\n`);
