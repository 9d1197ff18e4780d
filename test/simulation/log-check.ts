/**
 * What must hold in the log itself (design §9), read event by event and kept apart from the rules:
 * a rule that is wrong must not be able to hide it.
 */
import type { Event, RecordedEvent } from "../../src/core/events.ts";
import { COUNT } from "../../src/core/limits.ts";
import type { State } from "../../src/core/state.ts";
import { CallerCheck } from "./caller-check.ts";
import type { Op } from "./history.ts";
import { JobCheck } from "./job-check.ts";
import { OutpostCheck } from "./outpost-check.ts";

type Fail = (invariant: string, detail: string) => void;

interface TaskLife {
  readonly maxRetries: number;
  /** Empty while nobody has it. */
  holder: string;
  retries: number;
  isFinished: boolean;
}

export class LogCheck {
  readonly #fail: Fail;
  #lastAtMs = 0;
  #leader = { node: "", epoch: 0, sequence: 0 };
  #hasResigned = false;
  #token = 0;
  /** Key → "holder token". */
  readonly #leases = new Map<string, string>();
  readonly #terms = new Map<string, number>();
  readonly #tasks = new Map<string, TaskLife>();
  readonly #jobs = new JobCheck();
  readonly #callers = new CallerCheck();
  readonly #outposts = new OutpostCheck();
  /** URL → what is served there, and who brought it. */
  readonly #entries = new Map<string, { readonly served: string; readonly source: string }>();

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  take(recorded: RecordedEvent, writer: string): void {
    const { sequence, atMs, event } = recorded;
    const fail: Fail = (invariant, detail) => this.#fail(invariant, `${sequence}: ${detail}`);
    if (atMs < this.#lastAtMs) fail("time in the log never falls", `${atMs} < ${this.#lastAtMs}`);
    this.#lastAtMs = atMs;
    this.#leadership(recorded, writer, fail);
    this.#callers.take(recorded, fail);
    this.#outposts.take(event, fail);
    this.#lease(event, fail);
    this.#election(event, fail);
    this.#task(event, fail);
    this.#jobs.take(recorded, fail);
    this.#directory(event, fail);
  }

  /** At the end of an append: nobody ever sees a dead agent hold something. */
  append(state: State): void {
    for (const [agentId, { agent }] of state.agents.byId) {
      if (agent.status !== "dead") continue;
      const holds = [
        ...[...state.leases.byTask.values()].filter(({ lease }) => lease.holder === agentId),
        ...[...state.elections.byGroup.values()].filter((group) => group.candidates.has(agentId)),
        ...[...state.tasks.byId.values()].filter(
          ({ task }) => task.status === "claimed" && task.claimedBy === agentId,
        ),
      ];
      if (holds.length > 0) this.#fail("the dead hold nothing", `${agentId} holds something`);
    }
  }

  /** No task is lost: each waits, is claimed, or is over. Nor is a job. */
  end(state: State, ops: readonly Op[]): void {
    this.#callers.end(ops, this.#fail);
    this.#jobs.end(this.#leader, this.#fail);
    for (const [taskId, life] of this.#tasks) {
      const status = state.tasks.byId.get(taskId)?.task.status;
      const expected = life.holder === "" ? "pending" : "claimed";
      if (!life.isFinished && status !== expected) {
        this.#fail("no task is lost", `${taskId} is ${status ?? "gone"}, not ${expected}`);
      }
    }
  }

  #leadership({ event, sequence }: RecordedEvent, writer: string, fail: Fail): void {
    if (event.type === "node.leading") {
      this.#hasResigned = false;
      const { node, epoch } = event;
      if (epoch !== this.#leader.epoch + 1 || node !== writer) {
        fail("one node leads at a time", `${node} leads epoch ${epoch} of ${this.#leader.epoch}`);
      }
      this.#leader = { node, epoch, sequence };
      return;
    }
    if (writer !== this.#leader.node || this.#hasResigned) {
      const { node } = this.#leader;
      const whose = this.#hasResigned ? `after ${node} resigned` : `while ${node} led`;
      fail("only the leader appends", `${writer} wrote ${whose}`);
    }
    this.#hasResigned = event.type === "node.resigned";
  }

  #grant(token: number, fail: Fail): void {
    if (token <= this.#token) {
      fail("tokens strictly increase over all grants", `${token} after ${this.#token}`);
    }
    this.#token = token;
  }

  #lease(event: Event, fail: Fail): void {
    if (!("lease" in event)) return;
    const { taskId, holder, token } = event.lease;
    const held = this.#leases.get(taskId);
    if (event.type === "lease.acquired") {
      this.#grant(token, fail);
      if (held !== undefined) fail("at most one holder per lease", `${taskId} is held: ${held}`);
      this.#leases.set(taskId, `${holder} ${token}`);
      return;
    }
    if (held !== `${holder} ${token}`) {
      const detail = `${event.type} ${taskId} by ${holder} ${token}, held: ${held ?? "not"}`;
      fail("only the holder's token counts", detail);
    }
    if (event.type !== "lease.renewed") this.#leases.delete(taskId);
  }

  #election(event: Event, fail: Fail): void {
    if (event.type !== "leader.changed") return;
    const { group, term } = event.election;
    const before = this.#terms.get(group) ?? 0;
    if (term <= before) fail("terms strictly increase", `${group}: ${term} after ${before}`);
    this.#terms.set(group, term);
  }

  /** What is served changes with a verification, and with nothing else. */
  #directory(event: Event, fail: Fail): void {
    if (event.type === "directory.evicted" || event.type === "directory.removed") {
      if (!this.#entries.delete(event.url)) fail("entries go once", event.url);
      return;
    }
    if (!("entry" in event)) return;
    const { url, source, card } = event.entry;
    const served = card?.digest ?? "";
    const before = this.#entries.get(url);
    if ((event.type === "directory.registered") === (before !== undefined)) {
      fail("an entry is registered once", `${event.type} of ${url}`);
    }
    if (event.type !== "directory.verified" && served !== (before?.served ?? "")) {
      fail("what is served was verified", `${event.type} serves another card at ${url}`);
    }
    this.#entries.set(url, { served, source });
    const ofSource = [...this.#entries.values()].filter((each) => each.source === source);
    if (ofSource.length > COUNT.entriesPerSource) fail("sources have their limit", source);
  }

  #task(event: Event, fail: Fail): void {
    if (event.type === "task.created") {
      const { id, maxRetries } = event.task;
      this.#tasks.set(id, { maxRetries, holder: "", retries: 0, isFinished: false });
      return;
    }
    if (!("taskId" in event)) return;
    const life = this.#tasks.get(event.taskId);
    if (!life) return fail("no task is lost", `${event.type} of ${event.taskId}, never created`);
    if (event.type === "task.forgotten") {
      if (!life.isFinished) fail("no task is lost", `${event.taskId} was forgotten unfinished`);
      return;
    }
    if (life.isFinished) {
      return fail("a task ends once", `${event.type} of ${event.taskId}, which is over`);
    }
    switch (event.type) {
      case "task.claimed":
        this.#grant(event.claim.token, fail);
        if (life.holder !== "") fail("one claim at a time", `${event.taskId} of ${life.holder}`);
        life.holder = event.claim.agentId;
        return;
      case "task.renewed":
        if (life.holder === "") fail("only what is claimed is renewed", event.taskId);
        return;
      case "task.completed":
      case "task.requeued":
      case "task.returned":
      case "task.died":
      case "task.cancelled":
        if (event.agentId !== life.holder) {
          fail("only its holder ends a claim", `${event.taskId} by ${event.agentId}`);
        }
        life.holder = "";
        if (event.type === "task.requeued") life.retries += 1;
        else life.isFinished = event.type !== "task.returned";
        if (life.retries > life.maxRetries) fail("retries are bounded", event.taskId);
        return;
      case "task.expired":
        if (life.holder !== "") fail("only what waits has waited too long", event.taskId);
        life.isFinished = true;
        return;
    }
  }
}
