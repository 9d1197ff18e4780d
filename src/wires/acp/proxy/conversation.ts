/**
 * An editor and its agent talk through us: two pumps, and somebody who reads along. It is over when
 * the agent is gone and everything that it said was handed on.
 */
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../../core/clock.ts";
import type { FrameSender } from "../derive/frames.ts";
import type { AgentProcess, ProcessExit } from "./agent-process.ts";
import { AGENT_END } from "./limits.ts";
import { Pump } from "./pump.ts";

export interface ConversationOptions {
  readonly agent: AgentProcess;
  readonly input: Readable;
  readonly output: Writable;
  readonly clock: Clock;
  readonly note: (sender: FrameSender, chunk: Buffer) => void;
}

export class ProxyConversation {
  /** How the agent ended; rejects when it could not be started. */
  readonly over: Promise<ProcessExit>;
  readonly #toClient: Pump;
  readonly #clock: Clock;

  constructor({ agent, input, output, clock, note }: ConversationOptions) {
    this.#clock = clock;
    const toAgent = new Pump({
      from: input,
      to: agent.input,
      tap: (chunk) => note("client", chunk),
    });
    this.#toClient = new Pump({
      from: agent.output,
      to: output,
      tap: (chunk) => note("agent", chunk),
    });
    // Whichever way the client leaves: it says nothing more, or it hears nothing more.
    input.once("end", () => agent.dismiss());
    input.once("error", () => agent.dismiss());
    output.once("error", () => agent.dismiss());
    this.over = this.#last(agent, toAgent);
  }

  /** Says something to the client between two lines of the agent, if there is room for it now. */
  interject(line: string): boolean {
    return this.#toClient.interject(line);
  }

  async #last(agent: AgentProcess, toAgent: Pump): Promise<ProcessExit> {
    const ended = await agent.exited;
    const stop = this.#endWhenSilent();
    await this.#toClient.done;
    stop();
    toAgent.end();
    return ended;
  }

  /** A client that is slow gets all the time it takes; who holds the output in silence does not. */
  #endWhenSilent(): () => void {
    const pump = this.#toClient;
    const startMs = this.#clock.monotonicMs();
    let [before, stop]: [number, () => void] = [pump.bytes, () => undefined];
    const check = () => {
      const isLate = this.#clock.monotonicMs() - startMs >= AGENT_END.drainMs;
      if (!pump.isCongested && (pump.bytes === before || isLate)) return pump.end();
      before = pump.bytes;
      wait();
    };
    const wait = () => {
      stop = this.#clock.after(AGENT_END.silenceMs, check);
    };
    wait();
    return () => stop();
  }
}
