/** Those who look on while others work: one follows the fleet live, one looks for agents. */
import { setTimeout as sleep } from "node:timers/promises";

const FIND_EVERY_MS = 1_000;

export interface Looks {
  readonly finds: number;
  readonly fleetEvents: number;
}

export class LookersOn {
  readonly #url: string;
  readonly #abort = new AbortController();
  readonly #working: Promise<unknown>;
  #finds = 0;
  #fleetEvents = 0;

  constructor(url: string) {
    this.#url = url;
    this.#working = Promise.all([this.#follow(), this.#find()]);
  }

  async stop(): Promise<Looks> {
    this.#abort.abort();
    await this.#working;
    return { finds: this.#finds, fleetEvents: this.#fleetEvents };
  }

  async #follow(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const headers = { accept: "text/event-stream" };
      const response = await fetch(`${this.#url}/v1/fleet`, { headers, signal });
      if (!response.ok) throw new Error(`fleet: ${response.status} ${await response.text()}`);
      const text = response.body?.pipeThrough(new TextDecoderStream()) ?? [];
      for await (const chunk of text) this.#fleetEvents += chunk.split("\ndata:").length - 1;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #find(): Promise<void> {
    while (!this.#abort.signal.aborted) {
      const response = await fetch(`${this.#url}/v1/find?query=read+web+pages`);
      if (!response.ok) throw new Error(`find: ${response.status} ${await response.text()}`);
      await response.arrayBuffer();
      this.#finds += 1;
      await sleep(FIND_EVERY_MS);
    }
  }
}
