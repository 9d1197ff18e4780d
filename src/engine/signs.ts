/**
 * Signs of life of a node that has claimed to lead and gets ready for it, which may take a while:
 * the others hear of it, and do not take it for dead.
 */
import type { FailoverTimes } from "../core/limits.ts";
import type { Log } from "../log/log.ts";
import type { Replica } from "./replica.ts";
import type { Turn } from "./turn.ts";

export interface SignsOptions {
  readonly log: Log;
  readonly replica: Replica;
  readonly turn: Turn;
  readonly times: FailoverTimes;
  readonly nextId: () => string;
  readonly isClosed: () => boolean;
}

/** Resolves when what it prepares is ready; rejects when that fails, or a sign is refused. */
export async function signWhile(
  preparing: Promise<unknown> | undefined,
  options: SignsOptions,
): Promise<void> {
  const { log, turn, times, isClosed } = options;
  const preparation = { isReady: false };
  const settled = Promise.resolve(preparing).finally(() => {
    preparation.isReady = true;
    turn.hurry();
  });
  // It may fail while a sign is under way, before anybody waits for it here.
  settled.catch(() => null);
  const mustSign = () => log.shared && !preparation.isReady && !isClosed();
  try {
    while (mustSign()) {
      await turn.wait(times.tickMs / 2);
      if (mustSign()) await sign(options);
    }
  } finally {
    // Also where a sign was refused: nothing is begun anew while that is still busy.
    await settled;
  }
}

async function sign({ log, replica, nextId }: SignsOptions): Promise<void> {
  const { head, mark } = replica;
  const position = await log.append({ entries: [] }, { head, mark }, { id: nextId() });
  replica.mark = position.mark;
}
