/**
 * Another user of this machine, at every door: a process of its own passes all bytes on, so that
 * each connection to the daemon is that user's.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Only root can become somebody else. */
export const OTHER = 65_534;
export const isRoot = process.platform === "linux" && process.getuid?.() === 0;

const RELAY = `
const { connect, createServer } = require("node:net");
Promise.all(process.argv.slice(1).map((to) => new Promise((resolve) => {
  const server = createServer((from) => {
    const socket = connect(parseInt(to), "127.0.0.1");
    from.pipe(socket).pipe(from);
    for (const [one, two] of [[from, socket], [socket, from]]) {
      one.on("error", () => two.destroy()).on("close", () => two.destroy());
    }
  });
  const [, at = 0] = to.split("=");
  server.listen(at, at ? undefined : "127.0.0.1", () => resolve(server.address().port));
}))).then((ports) => console.log(JSON.stringify(ports)));
process.stdin.on("close", () => process.exit()).resume();`;

export interface OtherUser extends Disposable {
  readonly url: string;
  readonly grpcAddress: string;
}

/** Where a path is given, a unix socket leads to the HTTP door under the door's own name. */
export async function otherUser(
  daemon: { url: string; grpcAddress: string },
  path?: string,
): Promise<OtherUser> {
  const { port } = new URL(daemon.url);
  const ports = [port, daemon.grpcAddress.split(":").at(-1) ?? ""];
  if (path !== undefined) ports.push(`${port}=${path}`);
  const options = { uid: OTHER, gid: OTHER, cwd: "/" };
  const relay = spawn(process.execPath, ["-e", RELAY, ...ports], options);
  for await (const line of createInterface(relay.stdout)) {
    const [http, grpc] = JSON.parse(line) as [number, number];
    return {
      url: `http://127.0.0.1:${http}`,
      grpcAddress: `127.0.0.1:${grpc}`,
      [Symbol.dispose]: () => void relay.kill(),
    };
  }
  throw new Error("the other user's process ended");
}
