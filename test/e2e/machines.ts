/**
 * Machines with cables between them: network namespaces, each with a loopback of its own, and
 * pairs of virtual interfaces. They are gone when the processes that hold them are. Where they
 * cannot be made the test fails and says so: nothing else shows what a caller elsewhere gets.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { environment, programFile, Running } from "./programs.ts";

const isRoot = process.getuid?.() === 0;

export class Machine {
  readonly address: string;
  readonly #holder: ChildProcess;

  constructor(holder: ChildProcess, address: string) {
    this.#holder = holder;
    this.address = address;
  }

  get pid(): number {
    return this.#holder.pid ?? 0;
  }

  /** A program of this machine. */
  spawn(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    return new Running("nsenter", this.words(command, args), environment("/nowhere", env));
  }

  node(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    return this.spawn(process.execPath, [programFile(program), ...args], env);
  }

  /** As a program of this machine is started by hand. */
  words(command: string, args: readonly string[]): readonly string[] {
    return [...entering(this.pid), command, ...args];
  }

  /** Runs a short command of the system: `ip link set cable up`. */
  run(line: string): void {
    const [command = "", ...args] = line.split(" ");
    execFileSync("nsenter", this.words(command, args), { stdio: "pipe" });
  }

  close(): void {
    this.#holder.kill("SIGKILL");
  }
}

function entering(pid: number): readonly string[] {
  const user = isRoot ? [] : ["--user", "--preserve-credentials"];
  return ["--target", String(pid), "--net", ...user];
}

export interface Machines extends Disposable {
  readonly one: Machine;
  readonly two: Machine;
}

export async function twoMachines(): Promise<Machines> {
  const { hub, cables, [Symbol.dispose]: dispose } = await star(1);
  const [cable] = cables;
  if (!cable) throw new Error("no cable");
  return { one: hub, two: cable.end, [Symbol.dispose]: dispose };
}

/** A machine at the end of a cable from the hub. */
export interface CableToHub {
  readonly end: Machine;
  /** The hub, as this end calls it. */
  readonly hubAddress: string;
  /** Packets of both directions vanish; no connection hears of it. */
  goSilent(): void;
  /** A kilobyte takes a tenth of a second. */
  goSlow(): void;
  mend(): void;
}

export interface Star extends Disposable {
  readonly hub: Machine;
  readonly cables: readonly CableToHub[];
}

export async function star(ends: number): Promise<Star> {
  const holder = await hold("unshare", ["--net", ...(isRoot ? [] : ["--map-root-user"])]);
  const hub = new Machine(holder, "10.77.0.1");
  const cables: CableToHub[] = [];
  const close = () => {
    for (const { end } of cables) end.close();
    hub.close();
  };
  try {
    for (let i = 0; i < ends; i += 1) cables.push(await cableFrom(hub, i));
  } catch (cause) {
    close();
    throw refusal(cause);
  }
  return { hub, cables, [Symbol.dispose]: close };
}

async function cableFrom(hub: Machine, i: number): Promise<CableToHub> {
  const held = await hold("nsenter", [...entering(hub.pid), "unshare", "--net"]);
  const end = new Machine(held, `10.77.${i}.2`);
  const hubAddress = `10.77.${i}.1`;
  hub.run(`ip link add cable${i} type veth peer name cable netns ${end.pid}`);
  hub.run(`ip address add ${hubAddress}/24 dev cable${i}`);
  hub.run(`ip link set cable${i} up`);
  end.run(`ip address add ${end.address}/24 dev cable`);
  end.run("ip link set cable up");
  const queue = (discipline: string) => {
    hub.run(`tc qdisc replace dev cable${i} root ${discipline}`);
    end.run(`tc qdisc replace dev cable root ${discipline}`);
  };
  return {
    end,
    hubAddress,
    goSilent: () => queue("pfifo limit 0"),
    goSlow: () => queue("tbf rate 80kbit burst 4kb latency 5s"),
    mend: () => queue("pfifo limit 1000"),
  };
}

/** A process that keeps a namespace; it says when it is there. */
export async function hold(command: string, args: readonly string[]): Promise<ChildProcess> {
  const script = "ip link set lo up && echo there && exec sleep 600";
  const child = spawn(command, [...args, "sh", "-c", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const there = once(child.stdout, "data");
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${command} ended with ${String(code)}`);
  });
  // Later it ends because it is told to.
  ended.catch(() => undefined);
  await Promise.race([there, ended, once(child, "error")]).catch((cause: unknown) => {
    throw refusal(cause);
  });
  return child;
}

function refusal(cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  const need = "root, or user namespaces, with unshare, nsenter and ip";
  return new Error(`no second machine can be made here (it takes ${need}): ${why}`, { cause });
}
