/**
 * Two machines with a cable between them: network namespaces, each with a loopback of its own, and
 * a pair of virtual interfaces. They are gone when the processes that hold them are. Where they
 * cannot be made the test fails and says so: nothing else shows what a caller elsewhere gets.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { environment, programFile, Running } from "./programs.ts";

const ADDRESSES = ["10.77.0.1", "10.77.0.2"] as const;
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
    const words = [...entering(this.pid), command, ...args];
    return new Running("nsenter", words, environment("/nowhere", env));
  }

  node(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    return this.spawn(process.execPath, [programFile(program), ...args], env);
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
  const first = await hold("unshare", ["--net", ...(isRoot ? [] : ["--map-root-user"])]);
  const second = await hold("nsenter", [...entering(first.pid ?? 0), "unshare", "--net"]);
  const one = new Machine(first, ADDRESSES[0]);
  const two = new Machine(second, ADDRESSES[1]);
  const close = () => {
    one.close();
    two.close();
  };
  try {
    ip(one, `link add cable type veth peer name cable netns ${two.pid}`);
    for (const each of [one, two]) {
      ip(each, `address add ${each.address}/24 dev cable`);
      ip(each, "link set cable up");
    }
  } catch (cause) {
    close();
    throw refusal(cause);
  }
  return { one, two, [Symbol.dispose]: close };
}

function ip({ pid }: Machine, words: string): void {
  execFileSync("nsenter", [...entering(pid), "ip", ...words.split(" ")], { stdio: "pipe" });
}

/** A process that keeps a namespace; it says when it is there. */
async function hold(command: string, args: readonly string[]): Promise<ChildProcess> {
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
