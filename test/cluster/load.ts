/**
 * Clients of a cluster that is being hurt. Each does one thing after the other at its member, never
 * retries by itself, and writes down what it heard: so what was acknowledged must be there once,
 * what was not at most once, and all answers must fit one order.
 *
 *   tasks      every one has a type of its own: lost and twice can be seen
 *   registers  a few keys (policies), written and read by all: the history is checked
 *   jobs       run through a member by ARCP: each must end once
 */
// tidy-allow sleep: clients have a pace
import { setTimeout as pause } from "node:timers/promises";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { NO_TOKEN } from "../../src/wires/arcp/codec/messages.ts";
import { check, type Model, type Operation } from "../simulation/linearizable.ts";
import { eventsOf, get, post } from "./http.ts";
import type { MemberProcess } from "./members.ts";

const PACE_MS = 15;
const KEYS = 4;

interface RegisterInput {
  readonly kind: "write" | "read";
  readonly value: string;
}

const registerModel: Model<string, RegisterInput> = {
  initial: "",
  step: (state, { kind, value }) =>
    kind === "write" ? value : state === value ? state : undefined,
  key: (state) => state,
};

interface Written {
  readonly type: string;
  readonly isAcknowledged: boolean;
}

export class Load {
  readonly #members: readonly MemberProcess[];
  readonly #run = String(Date.now());
  readonly #over = new AbortController();
  readonly #tasks: Written[] = [];
  readonly #registers = new Map<string, Operation<RegisterInput>[]>();
  readonly #working: Promise<unknown>[];
  #next = 0;
  /** Of the registers in use: a later load on the same cluster must not meet these. */
  #era = Date.now();
  #jobs = 0;
  /** When commands were acknowledged, for the longest silence. */
  readonly acknowledgedMs: number[] = [];

  constructor(members: readonly MemberProcess[], clients = 6) {
    this.#members = members;
    const clientsOf = Array.from({ length: clients }, (_, i) => this.#repeat(i));
    this.#working = [...clientsOf, this.#runJobs()];
  }

  /** New registers from here on: a history that is short can be decided. */
  turnOver(): void {
    this.#era += 1;
  }

  /** The longest time without an acknowledged command, from a moment on until now. */
  longestSilenceMs(fromMs: number): number {
    const times = [fromMs, ...this.acknowledgedMs.filter((atMs) => atMs > fromMs), Date.now()];
    return Math.max(...times.map((atMs, i) => atMs - (times[i - 1] ?? atMs)));
  }

  get acknowledged(): number {
    return this.acknowledgedMs.length;
  }

  get jobs(): number {
    return this.#jobs;
  }

  async #repeat(client: number): Promise<void> {
    // Each has its member: one that is stopped holds up its own clients alone.
    const member = this.#members[client % this.#members.length];
    for (let turn = client; !this.#over.signal.aborted; turn += 1) {
      const key = turn % KEYS;
      const what = turn % 3;
      if (!member) continue;
      await (
        what === 0
          ? this.#createTask(member)
          : what === 1
            ? this.#write(member, key)
            : this.#readAll(member)
      ).catch(() => undefined);
      await pause(PACE_MS);
    }
  }

  async #createTask(member: MemberProcess): Promise<void> {
    this.#next += 1;
    const type = `t-${this.#run}-${this.#next}`;
    let isAcknowledged = false;
    try {
      await post(member, "/v1/tasks/create", { type });
      isAcknowledged = true;
      this.acknowledgedMs.push(Date.now());
    } finally {
      this.#tasks.push({ type, isAcknowledged });
    }
  }

  async #write(member: MemberProcess, index: number): Promise<void> {
    const era = this.#era;
    const key = keyOf(era, index);
    this.#next += 1;
    const value = `${this.#run}-${this.#next}`;
    const calledAt = performance.now();
    let returnedAt = Infinity;
    try {
      await post(member, "/v1/policies/set", {
        ...POLICY,
        subject: subjectOf(era),
        id: key,
        resource: value,
      });
      returnedAt = performance.now();
      this.acknowledgedMs.push(Date.now());
    } finally {
      this.#note(key, { input: { kind: "write", value }, calledAt, returnedAt });
    }
  }

  async #readAll(member: MemberProcess): Promise<void> {
    const era = this.#era;
    const calledAt = performance.now();
    const { policies } = await get<{ policies: { id: string; resource: string }[] }>(
      member,
      `/v1/policies?subjectPrefix=${subjectOf(era)}`,
    );
    const returnedAt = performance.now();
    for (let i = 0; i < KEYS; i += 1) {
      const key = keyOf(era, i);
      const value = policies.find(({ id }) => id === key)?.resource ?? "";
      this.#note(key, { input: { kind: "read", value }, calledAt, returnedAt });
    }
  }

  #note(key: string, operation: Operation<RegisterInput>): void {
    const known = this.#registers.get(key) ?? [];
    known.push(operation);
    this.#registers.set(key, known);
  }

  /** One after the other, at a member; where that one is gone, at the next. */
  async #runJobs(): Promise<void> {
    for (let turn = 0; !this.#over.signal.aborted; turn += 1) {
      const member = this.#members[turn % this.#members.length];
      try {
        const url = `${member?.url.replace("http", "ws")}/arcp`;
        await using client = await ArcpClient.connect(url, { token: NO_TOKEN });
        while (!this.#over.signal.aborted) {
          const job = await client.submit({ agent: "echo", input: turn, timeoutMs: 5000 });
          await Promise.race([job.done, pause(5000)]);
          this.#jobs += 1;
          await pause(PACE_MS * 4);
        }
      } catch {
        await pause(100);
      }
    }
  }

  /** Ends the clients; resolves with what is wrong, a sentence each. */
  async end(witness: MemberProcess): Promise<readonly string[]> {
    this.#over.abort();
    await Promise.all(this.#working);
    return [
      ...(await this.#taskProblems(witness)),
      ...this.#registerProblems(),
      ...(await jobProblems(witness)),
    ];
  }

  async #taskProblems(witness: MemberProcess): Promise<readonly string[]> {
    const events = await eventsOf(witness, "task.created");
    const seen = new Map<string, number>();
    for (const { task } of events as { task: { type: string } }[]) {
      seen.set(task.type, (seen.get(task.type) ?? 0) + 1);
    }
    return this.#tasks.flatMap(({ type, isAcknowledged }) => {
      const count = seen.get(type) ?? 0;
      if (isAcknowledged && count === 0) return [`lost: ${type} was acknowledged`];
      return count > 1 ? [`${count} times: ${type}`] : [];
    });
  }

  #registerProblems(): readonly string[] {
    return [...this.#registers].flatMap(([key, all]) => {
      // A write without an answer that nobody ever read may as well not have happened.
      const seen = new Set(all.flatMap(({ input }) => (input.kind === "read" ? input.value : [])));
      const operations = all.filter(
        ({ input, returnedAt }) => returnedAt < Infinity || seen.has(input.value),
      );
      const verdict = check(registerModel, operations);
      if (verdict.kind === "linearizable") return [];
      return [`${key}: ${verdict.kind}, ${operations.length} operations`];
    });
  }
}

/** Each job that was submitted ends once. */
async function jobProblems(witness: MemberProcess): Promise<readonly string[]> {
  const events = (await eventsOf(witness, "job.")) as {
    topic: string;
    job?: { id: string };
  }[];
  const [begun, ended] = ["job.submitted", "job.ended"].map((topic) =>
    events.flatMap((event) => (event.topic === topic && event.job ? [event.job.id] : [])),
  );
  return (begun ?? []).flatMap((id) => {
    const endings = ended?.filter((each) => each === id).length;
    return endings === 1 ? [] : [`job ${id} has ${endings} endings`];
  });
}

const POLICY = { action: "nothing", effect: "deny" };

/** Of the registers of an era: a list of them is short. */
function subjectOf(era: number): string {
  return `nobody-${era}.`;
}

function keyOf(era: number, index: number): string {
  return `r${era}-${index}`;
}
