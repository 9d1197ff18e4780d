/**
 * The news for the team, from where the team stands. The spool is the log itself: a
 * feed is a cursor on it, so nothing is written twice, and what happened while there was no link is
 * read from where it was written when it happened.
 *
 *   begin ──▶ the log has the event of the cursor ──▶ the events after it, then live
 *     └─────▶ it has not, or too much happened since ──▶ everything as it is now, then live
 *
 * A report in the log is told as it stands there. Agents of the registry and jobs are told as they
 * are when their event is read. Heartbeats and what jobs say are soft, and swept up once a minute.
 */
import { agentRowId } from "../../core/agent-jobs.ts";
import { RollcallError } from "../../core/errors.ts";
import type { Event, RecordedEvent } from "../../core/events.ts";
import { forgottenJobs, type JobEvent } from "../../core/jobs.ts";
import { isTerminal } from "../../core/jobs/outcome.ts";
import { OUTPOST } from "../../core/limits.ts";
import { isGone } from "../../core/questions.ts";
import { isBusy } from "../../core/report-news.ts";
import type { State } from "../../core/state.ts";
import { EVERYTHING } from "../../core/visibility.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Watch, WatchItem } from "../../engine/watch.ts";
import { sourceReport, sourceKeys, type SourceKey } from "../../fleet/sources.ts";
import { touch } from "../../fleet/touches.ts";
import type { Step } from "../../outposts/outposts.ts";
import { cursorAt, isAt, readCursor } from "./cursor.ts";
import { UPLINK } from "./limits.ts";
import type { HostNames } from "./names.ts";
import { Outgoing, type Told, type ToldSource } from "./outgoing.ts";
import { policyDigest, type SharePolicy } from "./policy.ts";
import { Steps } from "./steps.ts";

export interface TeamFeedOptions {
  readonly engine: Pick<Engine, "watch" | "read" | "peek" | "head">;
  readonly names: HostNames;
  readonly policy: SharePolicy;
}

/** How a feed begins: with everything there is, or with nothing but what comes. */
export interface Beginning {
  /** Absent where the team can be told what happened since its cursor. */
  readonly whole?: readonly Step[];
}

export class TeamFeed {
  readonly #options: TeamFeedOptions;
  readonly #policy: string;
  readonly #outgoing: Outgoing;
  /** Sources that are told as they are, and were at work when they last were. */
  readonly #busy = new Set<SourceKey>();
  #watch: Watch | undefined;
  #waiting: readonly WatchItem[] = [];
  /** The last event that was read. */
  #at: RecordedEvent | undefined;
  /** Where the team stands. */
  #sent: { readonly sequence: number; readonly cursor: string } = { sequence: 0, cursor: "" };

  constructor(options: TeamFeedOptions) {
    this.#options = options;
    this.#policy = policyDigest(options.policy);
    this.#outgoing = new Outgoing(options);
  }

  async begin(cursor: string): Promise<Beginning> {
    const known = readCursor(cursor);
    this.#sent = { sequence: known?.sequence ?? 0, cursor };
    const { head } = this.#options.engine;
    const isNear = known && known.sequence <= head && head - known.sequence <= UPLINK.replayEvents;
    if (isNear && known.policy === this.#policy) {
      const recorded = await this.#stand(known.sequence);
      if (recorded && isAt(known, recorded)) return {};
    }
    return { whole: await this.#whole() };
  }

  /** The steps of what happened next, perhaps none; waits until something does. */
  async next(): Promise<readonly Step[]> {
    const items = this.#waiting.length > 0 ? this.#waiting : await this.#watch?.pull();
    this.#waiting = [];
    if (!items || items.length === 0) throw new RollcallError("UNAVAILABLE", "the log was closed");
    if (items.some(({ kind }) => kind === "resync")) {
      throw new RollcallError(
        "OUT_OF_RANGE",
        "the log no longer reaches back to the team's cursor",
      );
    }
    const recorded = items.flatMap((item) => (item.kind === "event" ? [item.recorded] : []));
    return this.#sending(await this.#stepsOf(recorded));
  }

  /** Tells soft facts, which moved without an event. */
  async sweep(): Promise<readonly Step[]> {
    const told = await this.#read([...this.#busy]);
    if (told.length === 0) return [];
    const steps = new Steps(this.#sent.cursor);
    for (const each of told) steps.add([each], this.#sent.cursor);
    return steps.all();
  }

  close(): void {
    this.#watch?.close();
  }

  /** How many sources and jobs it remembers. */
  get size(): number {
    return this.#outgoing.size;
  }

  /** Goes to the event with this sequence; nothing where the log no longer has it. */
  async #stand(sequence: number): Promise<RecordedEvent | undefined> {
    this.#watch?.close();
    this.#watch = this.#options.engine.watch({ from: sequence - 1 });
    const [first, ...rest] = await this.#watch.pull();
    if (first?.kind !== "event" || first.recorded.sequence !== sequence) return undefined;
    this.#waiting = rest;
    this.#at = first.recorded;
    return first.recorded;
  }

  async #whole(): Promise<readonly Step[]> {
    const { told, sequence } = await this.#options.engine.read((state, at) => ({
      told: [...this.#all(state), ...this.#allJobs(state)],
      sequence: at,
    }));
    const recorded = await this.#stand(sequence);
    if (!recorded) throw new RollcallError("OUT_OF_RANGE", "the log was truncated meanwhile");
    const to = cursorAt(recorded, this.#policy);
    const steps = new Steps(this.#sent.cursor);
    for (const each of told) steps.add([each], this.#sent.cursor);
    this.#sent = { sequence, cursor: to };
    return [...steps.all(), bookmark(to)];
  }

  /** As many as the team keeps, the living first. */
  #all(state: State): readonly ToldSource[] {
    const living: ToldSource[] = [];
    const over: ToldSource[] = [];
    for (const key of sourceKeys(state)) {
      if (living.length >= OUTPOST.reports) break;
      const told = this.#tell(state, key);
      if (!told?.report) continue;
      const isOver = isGone(told.report.facts.liveness.value);
      if (!isOver) living.push(told);
      else if (over.length < OUTPOST.reports) over.push(told);
    }
    return [...living, ...over].slice(0, OUTPOST.reports);
  }

  /** As many as the team keeps, those that have not ended first, then the last that did. */
  #allJobs(state: State): readonly Told[] {
    const entries = Array.from(state.jobs.byId.values(), ({ job }) => job);
    const unfinished = entries.filter(({ status }) => !isTerminal(status));
    const ended = entries.filter(({ status }) => isTerminal(status));
    ended.sort((a, b) => b.endedAtMs - a.endedAtMs);
    const kept = [...unfinished, ...ended].slice(0, OUTPOST.jobs);
    return kept.flatMap((job) => listed(this.#outgoing.job(state, job)));
  }

  #tell(state: State, key: SourceKey): ToldSource | undefined {
    if (key.startsWith("entry ")) return undefined;
    const report = sourceReport(state, key, { sight: EVERYTHING });
    if (!report) {
      this.#busy.delete(key);
      return undefined;
    }
    if (!key.startsWith("report ") && isBusy(report.facts.activity?.value ?? "unknown")) {
      this.#busy.add(key);
    } else this.#busy.delete(key);
    return this.#outgoing.next(state, report);
  }

  async #read(keys: readonly SourceKey[]): Promise<readonly Told[]> {
    if (keys.length === 0) return [];
    return this.#options.engine.read((state) =>
      keys.flatMap((key) => this.#tell(state, key) ?? []),
    );
  }

  async #stepsOf(recorded: readonly RecordedEvent[]): Promise<readonly Step[]> {
    const steps = new Steps(this.#sent.cursor);
    for (const each of recorded) {
      const told = [...(await this.#toldBy(each.event)), ...(await this.#jobsIn(each.event))];
      this.#at = each;
      if (told.length > 0) steps.add(told, cursorAt(each, this.#policy));
    }
    return steps.all();
  }

  async #toldBy(event: Event): Promise<readonly Told[]> {
    const { engine, names } = this.#options;
    if (event.type === "fleet.reported") {
      return listed(engine.peek((state) => this.#outgoing.next(state, event.report)));
    }
    if (event.type === "fleet.dismissed") {
      return listed(this.#outgoing.end(names.alias(event.alias)));
    }
    if (event.type === "fleet.forgotten") this.#outgoing.forget(event.alias);
    if (event.type === "agent.forgotten") this.#outgoing.forget(`keeper:${event.agentId}`);
    return this.#read(engine.peek((state) => touchedBy(event, state)));
  }

  /** The jobs that an event is about, as they are now. */
  async #jobsIn(event: Event): Promise<readonly Told[]> {
    if (event.type === "job.forgotten") {
      for (const jobId of forgottenJobs(event)) this.#outgoing.forgetJob(jobId);
      return [];
    }
    if (!isJobStep(event)) return [];
    return this.#options.engine.read((state) => {
      const job = state.jobs.byId.get(event.job.id)?.job;
      return job ? listed(this.#outgoing.job(state, job)) : [];
    });
  }

  /** With a place for the team to remember, where much was read that says nothing to it. */
  #sending(steps: readonly Step[]): readonly Step[] {
    const at = this.#at;
    if (!at) return steps;
    const last = steps.at(-1);
    if (last) {
      this.#sent = { sequence: readCursor(last.to)?.sequence ?? at.sequence, cursor: last.to };
      return steps;
    }
    if (at.sequence - this.#sent.sequence < UPLINK.bookmarkEvents) return [];
    const to = cursorAt(at, this.#policy);
    this.#sent = { sequence: at.sequence, cursor: to };
    return [bookmark(to)];
  }
}

function listed(told: Told | undefined): readonly Told[] {
  return told ? [told] : [];
}

function bookmark(to: string): Step {
  return { to, reports: [], gone: [], jobs: [], jobsGone: [] };
}

type JobStepEvent = Exclude<JobEvent, { type: "job.forgotten" | "job.progressed" }>;

function isJobStep(event: Event): event is JobStepEvent {
  return event.type.startsWith("job.") && "job" in event;
}

/** The agents of the registry, and those that run jobs, that an event may have changed. */
function touchedBy(event: Event, state: State): readonly SourceKey[] {
  const keys = new Set<SourceKey>();
  touch(event, state, {
    source: (key) => {
      if (key.startsWith("agent ")) keys.add(key);
    },
    jobs: (rowId) => keys.add(`jobs ${rowId}`),
    job: (job) => keys.add(`jobs ${agentRowId(job)}`),
    entriesFrom: () => [],
    joining: () => [],
  });
  return [...keys];
}
