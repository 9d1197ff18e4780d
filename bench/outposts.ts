/**
 * What a team of 500 machines with 5 agents each costs its daemon: at rest, when each is only heard
 * every 15 s, and at work, when one agent in five does something new every 15 s. The outposts are
 * the real link, without an engine behind it: only the team's daemon is measured.
 */
// tidy-allow sleep: idle time is what is measured
import { setTimeout as sleep } from "node:timers/promises";
import type { SentJob } from "../src/core/host-jobs.ts";
import type { Report } from "../src/core/reports.ts";
import { TeamLink } from "../src/wires/outpost/link.ts";
import { conclude, inTemporaryFolder, isQuick, median, percentile, report } from "./measure.ts";
import { Daemon } from "./shared/daemon.ts";

const MACHINES = 500;
const AGENTS = 5;
const EVERY_MS = 15_000;
/** Two heartbeats of each, at least. */
const LOOK_MS = isQuick ? EVERY_MS : 2 * EVERY_MS;
const JOINING_AT_ONCE = 20;
const CORE = "% of a core";

class Machine {
  readonly #link: TeamLink;
  readonly #host: string;
  readonly #stop = new AbortController();
  #session = "";
  #cursor = "";
  #changes = 0;

  constructor(url: string, host: string, token: string) {
    this.#link = new TeamLink({ url, token });
    this.#host = host;
  }

  async join(): Promise<void> {
    const facts = { instance: this.#host, machine: this.#host, version: "bench" };
    const policy = { share: "questions", accept: "answers" };
    const body = { ...facts, ...policy, clockMs: Date.now() };
    const answer = await this.#link.post("/v1/outposts/join", body, this.#stop.signal);
    this.#session = String(answer["session"]);
    this.#cursor = String(answer["cursor"]);
    const agents = Array.from({ length: AGENTS }, (_, i) => this.#reportOf(i, "idle"));
    await this.#take(agents);
    void this.#follow();
  }

  /** Its stream is open for as long as it is there. */
  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    try {
      for await (const _ of this.#link.requests(this.#session, signal)) continue;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** How long it took until it was answered. */
  async beat(): Promise<number> {
    const startMs = performance.now();
    await this.#link.post("/v1/outposts/beat", { session: this.#session }, this.#stop.signal);
    return performance.now() - startMs;
  }

  /** One agent does something new. */
  async change(): Promise<number> {
    const startMs = performance.now();
    this.#changes += 1;
    await this.#take([this.#reportOf(0, `step ${this.#changes}`)]);
    return performance.now() - startMs;
  }

  async #take(reports: readonly Report[]): Promise<void> {
    const to = String(Number(this.#cursor) + 1);
    const jobs: readonly SentJob[] = [];
    const steps = [{ to, reports, gone: [], jobs, jobsGone: [] }];
    const body = { session: this.#session, from: this.#cursor, steps };
    await this.#link.post("/v1/outposts/take", body, this.#stop.signal);
    this.#cursor = to;
  }

  #reportOf(agent: number, message: string): Report {
    const nowMs = Date.now();
    const value = message === "idle" ? "idle" : "working";
    return {
      alias: `file@${this.#host}:agent-${agent}`,
      agentId: `agent-${agent}@${this.#host}`,
      links: [],
      order: nowMs,
      reportedAtMs: nowMs,
      facts: {
        name: "claude-code",
        workspace: `/home/dev/project-${agent}`,
        goal: "make the tests of the module pass and land the change",
        liveness: { value: "alive", rule: "its file is fresh" },
        activity: { value, rule: "its file says so", message },
      },
    };
  }

  close(): void {
    this.#stop.abort();
    this.#link.close();
  }
}

async function tokenFor(url: string, host: string): Promise<string> {
  const body = JSON.stringify({ name: host, role: "outpost", host });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/v1/tokens/create`, { method: "POST", headers, body });
  const { secret } = (await answer.json()) as { readonly secret: string };
  return secret;
}

/** All machines, each once in every period, evenly; how long their calls took. */
async function inTurnFor(
  machines: readonly Machine[],
  lookMs: number,
  act: (machine: Machine) => Promise<number>,
): Promise<readonly number[]> {
  const calls: Promise<number>[] = [];
  const startMs = performance.now();
  for (let i = 0; ; i += 1) {
    const atMs = (i / machines.length) * EVERY_MS;
    if (atMs >= lookMs) break;
    await sleep(Math.max(0, startMs + atMs - performance.now()));
    const machine = machines[i % machines.length];
    if (machine) calls.push(act(machine));
  }
  return Promise.all(calls);
}

async function headOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/fleet?limit=1`);
  const { sequence } = (await answer.json()) as { readonly sequence: number };
  return sequence;
}

await inTemporaryFolder(async (folder) => {
  const daemon = await Daemon.start(folder, { flags: ["--no-status-files", "--node", "team"] });
  const machines: Machine[] = [];
  try {
    for (let i = 0; i < MACHINES; i += JOINING_AT_ONCE) {
      const some = Array.from({ length: JOINING_AT_ONCE }, async (_, k) => {
        const host = `machine-${i + k}`;
        const machine = new Machine(daemon.url, host, await tokenFor(daemon.url, host));
        await machine.join();
        return machine;
      });
      machines.push(...(await Promise.all(some)));
    }
    const look = async (act: (machine: Machine) => Promise<number>) => {
      const [cpuMs, head] = [daemon.allCpuMs(), await headOf(daemon.url)];
      const startMs = performance.now();
      const tookMs = await inTurnFor(machines, LOOK_MS, act);
      const ms = performance.now() - startMs;
      const events = ((await headOf(daemon.url)) - head) / (ms / 1000);
      return { core: (100 * (daemon.allCpuMs() - cpuMs)) / ms, events, tookMs };
    };
    await inTurnFor(machines, EVERY_MS, (machine) => machine.beat());
    const rest = await look((machine) => machine.beat());
    const who = `${MACHINES} machines with ${AGENTS} agents each`;
    report({ name: `${who}, at rest`, value: rest.core, unit: CORE, target: { atMost: 10 } });
    const perSecond = { unit: "events/s", target: { atMost: 100 } };
    report({ name: "  events of the team's log", value: rest.events, ...perSecond });
    report({ name: "  a heartbeat, p99", value: percentile(rest.tookMs, 0.99), unit: "ms" });
    const work = await look((machine) => machine.change());
    const name = `${who}, one agent in five with news every 15 s`;
    report({ name, value: work.core, unit: CORE });
    report({ name: "  events of the team's log", value: work.events, ...perSecond });
    report({
      name: "  a change, until it is durable, p50",
      value: median(work.tookMs),
      unit: "ms",
    });
    const rows = (await daemon.metrics()).get('rollcall_outposts{state="here"}') ?? 0;
    report({
      name: "  machines that are here at the end",
      value: rows,
      unit: "",
      target: { atLeast: MACHINES },
    });
  } finally {
    for (const machine of machines) machine.close();
    await daemon.close();
  }
});

conclude();
