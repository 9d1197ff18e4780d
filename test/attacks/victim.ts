/**
 * A daemon under attack: a process of its own, so that its memory is its own. An honest client
 * calls it meanwhile, by HTTP and gRPC, and every call must be answered.
 */
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, onTestFinished } from "vitest";
import { MIB, SECOND } from "../../src/core/units.ts";
import { systemClock } from "../../src/machine/clock.ts";
import { GrpcChannel } from "../../src/net/grpc/client-channel.ts";
import { environment, programFile, Running } from "../e2e/programs.ts";

/** How much longer an honest call may take, on a machine with other work. */
const PATIENCE_MS = 5 * SECOND;
/** How often its memory is looked at, and honest clients call, in one attack. */
const CALLS = 30;

export interface Victim {
  readonly httpPort: number;
  readonly grpcPort: number;
  readonly pid: number;
  /** What it has written to its log. */
  log(): string;
  /** The id of a task with a large input: its answer is large. */
  largeTask(): Promise<string>;
  /** One call by each wire; fails where one is refused, or takes too long. */
  honestCall(): Promise<void>;
  /** Honest calls, and the most memory that it had meanwhile, in MiB above that of before. */
  grewWhile(attack: (round: number) => unknown): Promise<number>;
  /** Seconds of processor time so far. */
  cpuSeconds(): number;
  metric(name: string): Promise<number>;
}

/** `files`: as many files as the system lets it open. */
export async function victim({ files }: { readonly files?: number } = {}): Promise<Victim> {
  const doors = ["--addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0"];
  const quiet = ["--memory", "--no-status-files", "--socket", "off", "--rate-limit", "0"];
  const words = [process.execPath, programFile("rollcall"), "up", ...doors, ...quiet];
  const limit = files === undefined ? "" : `ulimit -n ${files}; `;
  const up = new Running("sh", ["-c", `${limit}exec "$@"`, "sh", ...words], environment(tmpdir()));
  onTestFinished(() => up[Symbol.asyncDispose]());
  const found = await up.says(/HTTP +http:\/\/\S+:(\d+)\n +gRPC +\S+:(\d+)/);
  const [httpPort = 0, grpcPort = 0] = found.slice(1).map(Number);
  const channel = new GrpcChannel({ address: `127.0.0.1:${grpcPort}`, timers: systemClock });
  onTestFinished(() => channel.close());
  const url = `http://127.0.0.1:${httpPort}`;

  const honestCall = async () => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answers = await Promise.all([
      fetch(`${url}/v1/status`, { signal }).then(({ status }) => status),
      channel.call({ path: LIST, body: new Uint8Array(), timeoutMs: PATIENCE_MS }),
    ]);
    expect(answers[0]).toBe(200);
  };
  const { pid } = up;
  return {
    httpPort,
    grpcPort,
    pid,
    log: () => up.stdout + up.stderr,
    honestCall,
    cpuSeconds: () => cpuSecondsOf(pid),
    largeTask: async () => {
      const body = JSON.stringify({ type: "large", input: "x".repeat(700_000) });
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${url}/v1/tasks/create`, { method: "POST", headers, body });
      const { task } = (await answer.json()) as { task: { id: string } };
      return task.id;
    },
    grewWhile: async (attack) => {
      for (let i = 0; i < CALLS; i += 1) await honestCall();
      const before = rssOf(pid);
      let most = before;
      for (let round = 0; round < CALLS; round += 1) {
        await attack(round);
        await honestCall();
        most = Math.max(most, rssOf(pid));
      }
      return Math.round((most - before) / MIB);
    },
    metric: async (name) => {
      const page = await (await fetch(`${url}/metrics`)).text();
      const line = page.split("\n").find((each) => each.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1));
    },
  };
}

const LIST = "/agentkeeper.v1.TaskService/ListTasks";

function rssOf(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) * 1024;
}

/** User and system, in ticks of a hundredth of a second. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
