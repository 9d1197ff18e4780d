/** For tests of the client: a runtime whose every frame the test says, over links it may cut. */
import { expect, onTestFinished } from "vitest";
import { ArcpClient } from "../../../src/wires/arcp/client/client.ts";
import type { JobHandle } from "../../../src/wires/arcp/client/job.ts";
import type { ArcpClientOptions } from "../../../src/wires/arcp/client/types.ts";
import { quiet, TestClock } from "../engine/fixture.ts";
import { MemoryLink } from "../../../src/wires/arcp/transports/memory.ts";

interface Frame {
  readonly id: string;
  readonly type: string;
  readonly session_id?: string;
  readonly job_id?: string;
  readonly trace_id: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export const SESSION = "sess_01KZ4TA0000000000000000003";
const WELCOME = {
  runtime: { name: "scripted", version: "1" },
  resume_token: "rt_1",
  resume_window_sec: 600,
  capabilities: { features: ["ack", "list_jobs", "subscribe", "heartbeat"], agents: ["echo"] },
};

let frames = 0;

/** The runtime's end of one connection. */
export class ScriptedRuntime {
  readonly link = new MemoryLink();
  readonly heard: Frame[] = [];
  isClosed = false;

  constructor() {
    this.link.runtime.open({
      onFrame: (text) => void this.heard.push(JSON.parse(text) as Frame),
      onDrained: () => undefined,
      onClosed: () => (this.isClosed = true),
    });
  }

  say(type: string, payload: object, head: object = {}): void {
    frames += 1;
    const id = `msg_${frames}`;
    const text = JSON.stringify({ arcp: "1.1", id, type, session_id: SESSION, ...head, payload });
    this.link.runtime.send(text);
  }

  welcome(fields: object = {}, head: object = {}): void {
    this.say("session.welcome", { ...WELCOME, ...fields }, head);
  }

  /** An event of a job: a log line, unless something else is said. */
  event(jobId: string, seq: number, payload: object = log(`event-${seq}`)): void {
    this.say("job.event", payload, { job_id: jobId, event_seq: seq });
  }

  end(jobId: string, seq: number, payload: object = { final_status: "success", result: 1 }): void {
    this.say("job.result", payload, { job_id: jobId, event_seq: seq });
  }

  /** What it was sent of a type so far. */
  all(type: string): readonly Frame[] {
    return this.heard.filter((frame) => frame.type === type);
  }

  /** The newest of a type. */
  last(type: string): Frame {
    const frame = this.all(type).at(-1);
    if (frame) return frame;
    throw new Error(`no ${type} among ${this.heard.map((each) => each.type).join(", ")}`);
  }
}

export function log(message: string): object {
  return { kind: "log", ts: "2026-11-15T10:00:00Z", body: { level: "info", message } };
}

interface Stage {
  readonly client: ArcpClient;
  readonly clock: TestClock;
  /** One for each connection. */
  readonly runtimes: ScriptedRuntime[];
  readonly runtime: ScriptedRuntime;
  readonly states: string[];
}

/** A client that is welcomed; what it does when it is cut is for the test to answer. */
async function stage(
  options: Partial<ArcpClientOptions> = {},
  welcome: object = {},
): Promise<Stage> {
  const clock = new TestClock();
  const runtimes: ScriptedRuntime[] = [];
  const states: string[] = [];
  const connecting = ArcpClient.connect(
    () => {
      const next = new ScriptedRuntime();
      runtimes.push(next);
      return next.link.client;
    },
    {
      token: "tok",
      clock,
      random: () => 1,
      onState: ({ kind }) => states.push(kind),
      ...options,
    },
  );
  await quiet();
  const [runtime] = runtimes;
  if (!runtime) throw new Error("nobody called");
  runtime.welcome(welcome);
  const client = await connecting;
  return { client, clock, runtimes, runtime, states };
}

export const [J1, J2] = ["job_01KZ4TA000000000000000000C", "job_01KZ4TA000000000000000000D"];

/** A stage that is left as it should be: closed, and without a timer. */
export async function scene(...given: Parameters<typeof stage>): Promise<Stage> {
  const set = await stage(...given);
  onTestFinished(async () => {
    await set.client.close();
    expect(set.clock.timers).toBe(0);
  });
  return set;
}

/** A job that was taken, the way our runtime says so. */
export async function submitted({ client, runtime }: Stage, jobId = J1): Promise<JobHandle> {
  const submitting = client.submit({ agent: "echo" });
  await quiet();
  accept(runtime, jobId);
  return submitting;
}

export function accept(runtime: ScriptedRuntime, jobId: string, payload: object = {}): void {
  const { id } = runtime.last("job.submit");
  runtime.say("job.accepted", { job_id: jobId, agent: "echo", request_id: id, ...payload });
}

/** What the log lines of a job say, until it ends. */
export async function messages(job: JobHandle): Promise<string[]> {
  const said: string[] = [];
  for await (const event of job.events()) if (event.kind === "log") said.push(event.body.message);
  return said;
}

/** "done", or the code of what went wrong. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "done",
    (error: unknown) => (error as { code: string }).code,
  );
}
