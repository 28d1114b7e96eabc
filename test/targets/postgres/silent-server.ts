/** A PostgreSQL that accepts connections and says nothing more, once it has given its answers. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

const message = (type: string, body: Buffer | string = ""): Buffer => {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(Buffer.byteLength(body) + 4, 1);
  return Buffer.concat([head, Buffer.from(body)]);
};
const READY = message("Z", "I");
export const WELCOME = Buffer.concat([message("R", Buffer.alloc(4)), READY]);
export const DONE = Buffer.concat([message("C", "DONE\0"), READY]);
/** The answer `true` to a question with values, in a column `taken`. */
export const TAKEN = Buffer.concat([
  message("1"),
  message("2"),
  message("T", Buffer.from("\0\x01taken\0\0\0\0\0\0\0\0\0\0\x10\0\x01\0\0\0\0\0\0", "latin1")),
  message("D", Buffer.from("\0\x01\0\0\0\x01t", "latin1")),
  DONE,
]);
export const COPY_BEGINS = message("G", Buffer.alloc(3));
export const NO_ROWS = Buffer.concat([message("1"), message("2"), message("n"), DONE]);

interface SilentServer {
  readonly address: string;
  /** The connection, once something came that it has no answer for. */
  readonly asked: Promise<Socket>;
}

/** Gives these answers, one after another, and never closes a connection. */
export async function silentServer(t: TestContext, answers: readonly Buffer[]): Promise<SilentServer> {
  const { promise: asked, resolve } = Promise.withResolvers<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    t.after(() => socket.destroy());
    const left = [...answers];
    socket.on("error", () => {});
    socket.on("data", () => {
      const answer = left.shift();
      if (answer === undefined) resolve(socket);
      else socket.write(answer);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { address: `postgres://loader@127.0.0.1:${port}/reports`, asked };
}
