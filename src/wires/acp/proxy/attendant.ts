/**
 * Everything that reads along, put together: what the reading makes of the stream goes into the
 * status file and the fleet, into the timeline, into the recording if one is wanted, and into the
 * stream if that is wanted.
 */
import type { Clock } from "../../../core/clock.ts";
import type { AcpFrame, FrameSender } from "../derive/frames.ts";
import type { AcpRecord } from "../derive/record.ts";
import type { ProcessExit } from "./agent-process.ts";
import { Injector, type InjectorOptions } from "./injection.ts";
import { Publisher, type PublisherOptions } from "./publisher.ts";
import { ProxyReader } from "./reading.ts";
import type { Recorder } from "./recording.ts";
import { lineOf, sweepTimelines, timelineFolder, TimelineWriter } from "./timeline.ts";

/** Sessions of which the last line is remembered; without it a line comes twice. */
const MAX_TOLD = 1_000;

export interface AttendantOptions
  extends
    Omit<PublisherOptions, "clock">,
    Pick<InjectorOptions, "injection" | "isBehindProxy" | "interject"> {
  readonly clock: Clock;
  readonly recorder: Recorder | undefined;
}

export class Attendant implements AsyncDisposable {
  readonly #id: string;
  readonly #name: string;
  readonly #reading: ProxyReader;
  readonly #injector: Injector;
  readonly #publisher: Publisher;
  readonly #timeline: TimelineWriter;
  readonly #recorder: Recorder | undefined;
  /** The last line of each session in the timeline. */
  readonly #told = new Map<string | null, string>();
  #isTaking = false;

  constructor(options: AttendantOptions) {
    const { id, name, clock, env, injection, isBehindProxy, interject, onError } = options;
    this.#id = id;
    this.#name = name;
    this.#recorder = options.recorder;
    this.#publisher = new Publisher(options);
    const folder = timelineFolder(env);
    this.#timeline = new TimelineWriter(id, folder);
    void sweepTimelines(clock.wallMs(), folder);
    this.#reading = new ProxyReader({
      clock,
      name,
      onFrame: (sender, frame) => this.#saw(sender, frame),
      onChange: (record, atMs) => this.#changed(record, atMs),
      onShow: (record, atMs) => this.#show(record, atMs),
      onError,
    });
    this.#injector = new Injector({
      injection,
      deriver: this.#reading.deriver,
      clock,
      isBehindProxy,
      interject,
    });
  }

  /** A piece of the stream went by. */
  take(sender: FrameSender, chunk: Uint8Array, isBroken: boolean): void {
    this.#isTaking = true;
    this.#reading.take(sender, chunk, isBroken);
    this.#isTaking = false;
    this.#injector.settled();
    this.#publisher.activity();
  }

  /** So did one that nobody looked at. */
  lost(sender: FrameSender): void {
    // It no longer knows whether a turn is open, so it injects nothing any more.
    this.#injector.close();
    this.#reading.lost(sender);
  }

  /** The agent is gone, and all that it said went by. */
  ended(how: ProcessExit): void {
    this.#injector.close();
    this.#reading.ended(how);
  }

  /** Nothing is left behind: no file, no question, no timer. */
  async close(): Promise<void> {
    this.#injector.close();
    await this.#reading.close();
    await Promise.all([this.#publisher.close(), this.#timeline.close(), this.#recorder?.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #saw(sender: FrameSender, frame: AcpFrame): void {
    this.#injector.saw(sender, frame);
    this.#recorder?.look(sender, frame, this.#reading.nowMs());
  }

  #changed(record: AcpRecord, atMs: number): void {
    const { deriver } = this.#reading;
    const { sessionId } = record;
    const name = deriver.facts.agent?.name ?? this.#name;
    const line = lineOf({ atMs, agent: this.#id, name, record });
    const said = JSON.stringify({ ...line, at: undefined, sessionId: undefined });
    // The agent as a whole is the most urgent of its sessions: it would be told twice.
    const isTold =
      sessionId === null
        ? [...this.#told.values()].includes(said)
        : this.#told.get(sessionId) === said;
    if (isTold) return;
    if (this.#told.size >= MAX_TOLD) this.#told.clear();
    this.#told.set(sessionId, said);
    this.#timeline.write(line);
  }

  #show(record: AcpRecord, atMs: number): void {
    if (record.sessionId === null) this.#publisher.show(this.#reading.presence(record, atMs));
    else this.#injector.show(record);
    // The same piece may end the turn that this is about.
    if (!this.#isTaking) this.#injector.settled();
  }
}
