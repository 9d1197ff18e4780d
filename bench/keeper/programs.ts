/** The servers under load, each a process of its own on a free port of this machine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const START_MS = 20_000;

export interface Program extends AsyncDisposable {
  /** HOST:PORT of the gRPC side. */
  readonly address: string;
  /** The same as a URL. */
  readonly origin: string;
  readonly pid: number;
  /** The processor time that it has used, as Linux tells it. */
  cpuUs(): number;
}

/** The files of a certificate and its key. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export async function startKeeper(folder: string, tls?: TlsFiles): Promise<Program> {
  const [address, http] = [await freeAddress(), await freeAddress()];
  const state = join(folder, tls ? "keeper-tls" : "keeper");
  const flags = ["--addr", address, "--metrics-addr", http, "--data-dir", state];
  if (tls) flags.push("--tls-cert", tls.cert, "--tls-key", tls.key);
  const program = await start(process.execPath, ["dist/bin/agentkeeper.js", ...flags], address);
  return tls ? secured(program) : program;
}

function secured(program: Program): Program {
  return { ...program, origin: `https://${program.address}` };
}

/** A grpc-js server whose handler does nothing. */
export async function startBare(): Promise<Program> {
  const address = await freeAddress();
  return start(process.execPath, ["bench/keeper/bare.mjs", address], address);
}

/** As it comes: every write is synced. */
export async function startEtcd(folder: string, tls?: TlsFiles): Promise<Program> {
  const [address, peer] = [await freeAddress(), `http://${await freeAddress()}`];
  const url = `http${tls ? "s" : ""}://${address}`;
  const flags = [
    ["--data-dir", join(folder, tls ? "etcd-tls" : "etcd")],
    tls ? ["--cert-file", tls.cert, "--key-file", tls.key] : [],
    ["--listen-client-urls", url, "--advertise-client-urls", url],
    ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
    ["--initial-cluster", `default=${peer}`, "--log-level", "error"],
  ];
  const program = await start("etcd", flags.flat(), address);
  return tls ? secured(program) : program;
}

/** Pub/sub alone: nothing is kept, in memory or on disk. */
export async function startRedis(folder: string): Promise<Program> {
  const address = await freeAddress();
  const [host = "", port = ""] = address.split(":");
  const flags = [
    "--bind",
    host,
    "--port",
    port,
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "no",
  ];
  return start("redis-server", flags, address);
}

export async function start(
  command: string,
  args: readonly string[],
  address: string,
): Promise<Program> {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const deadline = performance.now() + START_MS;
  while (!(await answers(address))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`${command} did not start: ${said}`);
    }
    await delay(50);
  }
  const { pid = 0 } = child;
  return {
    address,
    origin: `http://${address}`,
    pid,
    cpuUs: () => cpuUsOf(pid),
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** In ticks of 10 ms, behind the name of the program, which is in brackets. */
export function cpuUsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

export async function freeAddress(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return `127.0.0.1:${port}`;
}

function answers(address: string): Promise<boolean> {
  const [host = "", port = ""] = address.split(":");
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    const tell = (isThere: boolean) => () => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on("connect", tell(true)).on("error", tell(false));
  });
}
