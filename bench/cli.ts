/**
 * What a command costs before it does anything, against node that does nothing; the two that people
 * and status bars call again and again, of ten agents; and how soon a program that brings its own
 * daemon along can talk to it.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { conclude, inTemporaryFolder, inTurns, rate, report } from "./measure.ts";
import { Daemon } from "./shared/daemon.ts";
import { startCosts } from "./shared/starts.ts";

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
      // Whoever waits must not take the core the daemon starts on.
      await pause(2);
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

const PROGRAM = "dist/bin/rollcall.cjs";

/** `ls` with a daemon, and `agent-status list`, of ten agents each. */
async function looks(folder: string): Promise<void> {
  const own = { ROLLCALL_DATA_DIR: folder, HOME: folder };
  const daemon = await Daemon.start(folder, { flags: ["--no-status-files"] });
  try {
    for (let i = 0; i < 10; i += 1) {
      prepare(["agents", "register", `agent-${i}`, "--ttl", "1h"], own);
      prepare(["emit", `--agent-id=a-${i}`, "--agent-name=pi", "--lifecycle=running"], own);
    }
    const nothing = { args: ["-e", "0"] };
    const ls = { args: [PROGRAM, "ls"], env: own };
    const list = { args: ["dist/bin/agent-status.cjs", "list"], env: own };
    const [bare, ...costs] = startCosts(41, [nothing, ls, list]);
    for (const [i, name] of ["rollcall ls", "agent-status list"].entries()) {
      const { cpuMs = NaN, wallMs = NaN } = costs[i] ?? {};
      const times = (value: number, base = NaN) => ({ value: value / base, unit: "×" });
      const cpu = times(cpuMs, bare?.cpuMs);
      report({ name: `${name} of ten, CPU`, ...cpu, target: { atMost: 1.5 } });
      report({ name: `  ${name} of ten, wall`, ...times(wallMs, bare?.wallMs) });
    }
    report({ name: "  bare node, CPU", value: bare?.cpuMs ?? NaN, unit: "ms" });
  } finally {
    await daemon.close();
  }
}

function prepare(words: readonly string[], own: NodeJS.ProcessEnv): void {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], {
    env: { ...env, ...own },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`rollcall ${words.join(" ")}: ${stderr}`);
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
await inTemporaryFolder(looks);
conclude();
