/**
 * SIGTERM and SIGINT: the first one closes in order, a second one leaves at once with the code that
 * shells give to a program ended by that signal. One Ctrl-C under npm arrives twice, from the
 * terminal and from npm: the same signal again in the same moment is the same key press.
 */
import type { Daemon } from "./compose.ts";

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

type Signal = keyof typeof CODES;

const SAME_KEY_PRESS_MS = 300;

/** The part of the process that is used; a test has its own. */
export interface Host {
  on(signal: Signal, listener: () => void): unknown;
  off(signal: Signal, listener: () => void): unknown;
  exit(code: number): void;
}

/** Resolves with the exit code once the daemon is closed: 0 when asked to, 1 when it failed. */
export async function untilStopped(
  daemon: Pick<Daemon, "close" | "failed">,
  host: Host = process,
  nowMs: () => number = () => performance.now(),
): Promise<number> {
  const listeners = new Map<Signal, () => void>();
  const asked = new Promise<number>((resolve, reject) => {
    let first: { readonly signal: Signal; readonly atMs: number } | undefined;
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const listener = () => {
        if (first) {
          const isEcho = signal === first.signal && nowMs() - first.atMs < SAME_KEY_PRESS_MS;
          if (!isEcho) host.exit(CODES[signal]);
          return;
        }
        first = { signal, atMs: nowMs() };
        daemon.close().then(() => resolve(0), reject);
      };
      listeners.set(signal, listener);
      host.on(signal, listener);
    }
  });
  try {
    return await Promise.race([asked, daemon.failed.then(() => 1)]);
  } finally {
    for (const [signal, listener] of listeners) host.off(signal, listener);
  }
}
