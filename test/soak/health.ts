/**
 * How long /healthz takes, while the daemon may be expected to answer. A bare server of Node is
 * asked at the same times: what that takes is the machine's, not the daemon's.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
// tidy-allow sleep: a probe has a pace
import { setTimeout as pause } from "node:timers/promises";
import type { SoakDaemon } from "./daemon.ts";

const PACE_MS = 50;
const PATIENCE_MS = 10_000;

const BARE = `
  const server = require("node:http").createServer((_, response) => response.end("ok"));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

export class Health implements Disposable {
  readonly #child: ChildProcess = spawn(process.execPath, ["-e", BARE]);
  readonly #ofDaemon: number[] = [];
  readonly #ofMachine: number[] = [];

  async probe(daemon: SoakDaemon, signal: AbortSignal): Promise<void> {
    const [port] = (await once(this.#child.stdout ?? this.#child, "data")) as [Buffer];
    const bare = `http://127.0.0.1:${Number(port.toString())}/`;
    while (!signal.aborted) {
      const { era, isUp, url } = daemon;
      const [ours, theirs] = await Promise.all([
        isUp ? tookMs(`${url}/healthz`) : undefined,
        tookMs(bare),
      ]);
      // Unless it was killed or stopped meanwhile.
      if (ours !== undefined && era === daemon.era) {
        this.#ofDaemon.push(ours);
        this.#ofMachine.push(theirs);
      }
      await pause(PACE_MS);
    }
  }

  /** Of the daemon, and of the machine, in milliseconds. */
  get p99(): { readonly daemon: number; readonly machine: number; readonly probes: number } {
    const [daemon, machine] = [p99Of(this.#ofDaemon), p99Of(this.#ofMachine)];
    return { daemon, machine, probes: this.#ofDaemon.length };
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }
}

/** One that is not answered took as long as was waited. */
async function tookMs(url: string): Promise<number> {
  const startedMs = performance.now();
  await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
    .then((answer) => answer.text())
    .catch(() => undefined);
  return performance.now() - startedMs;
}

function p99Of(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}
