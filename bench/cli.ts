/**
 * What a command costs before it does anything, against node that does nothing; and how soon a
 * program that brings its own daemon along can talk to it.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { conclude, inTurns, rate, report } from "./measure.ts";

// A machine-wide certificate bundle costs Node 20 most of its start; it is not ours to measure.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

function runOf(args: readonly string[]): () => Promise<number> {
  return () => rate(1, () => void spawnSync(process.execPath, args, { env, stdio: "ignore" }));
}

/** From the start of the process until its port takes a connection, as its SDK waits for it. */
async function readyOf(program: string): Promise<number> {
  const port = await freePort();
  const args = [program, `--addr=127.0.0.1:${port}`, "--metrics-addr=127.0.0.1:0"];
  const daemon = spawn(process.execPath, args, { env, stdio: "ignore" });
  const ended = once(daemon, "exit");
  const speed = await rate(1, async () => {
    while (!(await takesConnections(port))) {
      if (daemon.exitCode !== null) throw new Error(`${program} ended with ${daemon.exitCode}`);
    }
  });
  daemon.kill();
  await ended;
  return speed;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

const built = "dist/bin/rollcall.js";
const [bare = 0, version = 0, help = 0] = await inTurns(
  25,
  runOf(["-e", "0"]),
  runOf([built, "version"]),
  runOf([built, "up", "--help"]),
);
const [ready = 0] = await inTurns(9, () => readyOf("dist/bin/agentkeeper.js"));
report({ name: "bare node", value: 1000 / bare, unit: "ms" });
report({ name: "rollcall version", value: bare / version, unit: "×", target: { atMost: 2.5 } });
report({ name: "rollcall up --help", value: bare / help, unit: "×", target: { atMost: 3 } });
report({
  name: "agentkeeper, until it takes a connection",
  value: 1 / ready,
  unit: "s",
  target: { atMost: 1 },
});
conclude();
