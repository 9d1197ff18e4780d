/**
 * A client of the victim that is looked at from both sides. Below, every frame that comes over any
 * of its connections must carry the next number of the session: a client that leaves out what it
 * has seen would hide what a runtime sends twice. Above, each job must give its numbers in order,
 * each once, and end as its agent may.
 */
import {
  ArcpClient,
  connectWebSocket,
  type JobEnd,
  type JobHandle,
  type ReceivedEvent,
  type Transport,
  type TransportListener,
} from "../../src/arcp.ts";

export interface WatchedOptions {
  readonly url: string;
  readonly name: string;
  /** Its agents count to this. */
  readonly numbers: number;
}

/** What became of the jobs of one client. */
export interface Tally {
  whole: number;
  cut: number;
  restarts: number;
  resumes: number;
}

export class Watched {
  readonly faults: string[] = [];
  readonly tally: Tally = { whole: 0, cut: 0, restarts: 0, resumes: 0 };
  /** The number of the last event. */
  last = 0;
  readonly #options: WatchedOptions;
  #client: ArcpClient | undefined;
  readonly #jobs: Promise<void>[] = [];
  /** Jobs whose end came. */
  readonly #ended = new Set<string>();

  constructor(options: WatchedOptions) {
    this.#options = options;
  }

  async connect(): Promise<void> {
    const { url } = this.#options;
    this.#client = await ArcpClient.connect(
      async (signal) => this.#watch(await connectWebSocket(url, { signal })),
      {
        token: "token",
        onState: (state) => {
          if (state.kind === "resumed") this.tally.resumes += 1;
          else if (state.kind === "renewed" || state.kind === "gap") this.#fault(state.kind);
        },
      },
    );
  }

  /** Resolves with its id when the job is accepted. */
  async submit(agent: "mortal" | "phoenix"): Promise<string> {
    if (!this.#client) throw new Error("it is not connected");
    const job = await this.#client.submit({ agent, input: this.#options.numbers });
    this.#jobs.push(this.#follow(agent, job));
    return job.id;
  }

  /** Resolves when all its jobs have ended. */
  async done(): Promise<void> {
    await Promise.all(this.#jobs);
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  #fault(what: string): void {
    this.faults.push(`${this.#options.name}: ${what}`);
  }

  async #follow(agent: string, job: JobHandle): Promise<void> {
    let next = 0;
    let seq = 0;
    for await (const event of job.events()) {
      if (event.seq <= seq) this.#fault(`${job.id} gives ${event.seq} after ${seq}`);
      seq = event.seq;
      const said = numberOf(event);
      if (said === "restarted") {
        this.tally.restarts += 1;
        next = 0;
      } else if (said !== undefined) {
        if (said !== next) this.#fault(`${job.id} says ${said}, not ${next}`);
        next += 1;
      }
    }
    this.#end(agent, await job.ended, next);
  }

  #end(agent: string, { status, result, error }: JobEnd, next: number): void {
    const { numbers } = this.#options;
    const isCut = error?.code === "INTERNAL_ERROR" && error.retryable;
    if (status === "success" && result === numbers && next === numbers) this.tally.whole += 1;
    else if (agent === "mortal" && isCut) this.tally.cut += 1;
    else this.#fault(`a ${agent} ended at ${next} with ${status} ${error?.message ?? ""}`);
  }

  #watch(transport: Transport): Transport {
    const open = transport.open.bind(transport);
    transport.open = (listener: TransportListener) =>
      open({
        onFrame: (frame) => {
          this.#check(JSON.parse(frame) as Numbered);
          listener.onFrame(frame);
        },
        onDrained: () => listener.onDrained(),
        onClosed: (ending) => listener.onClosed(ending),
      });
    return transport;
  }

  #check({ type, event_seq: seq, job_id: jobId = "" }: Numbered): void {
    if (seq === undefined) return;
    if (seq !== this.last + 1) this.#fault(`${seq} comes after ${this.last}`);
    this.last = seq;
    if (this.#ended.has(jobId)) this.#fault(`${type} after the end of ${jobId}`);
    if (type !== "job.event") this.#ended.add(jobId);
  }
}

interface Numbered {
  readonly type: string;
  readonly event_seq?: number;
  readonly job_id?: string;
}

/** What an agent of the victim says; undefined for what the runtime says beside it. */
function numberOf(event: ReceivedEvent): number | "restarted" | undefined {
  if (event.kind === "log" && "message" in event.body) return Number(event.body.message);
  return event.kind === "status" && event.raw["phase"] === "restarted" ? "restarted" : undefined;
}
