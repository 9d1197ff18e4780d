/**
 * Plays the steps, one after the other. A step that does not show what it says ends the tour with
 * 1; who leaves by `q` has seen enough, and that is no failure.
 *
 *   open ──▶ say ──▶ play ──▶ wait for a key ──▶ the next step … ──▶ close
 */
import type { Stage } from "./stage.ts";

export type Need = "workers" | "postgres";

export interface Step {
  readonly title: string;
  /** What happens, in one or two plain sentences. */
  readonly says: string;
  /** What it cannot do without. */
  readonly needs?: Need;
  readonly play: (stage: Stage) => Promise<void>;
}

export interface PlayerOptions {
  readonly stage: Stage;
  /** Resolves to false when somebody wants to leave. */
  readonly goesOn: () => Promise<boolean>;
  readonly isMissing: (need: Need) => boolean;
  /** Aborts when somebody does not even wait for the end of a step. */
  readonly signal: AbortSignal;
}

export const INTERRUPTED = 130;

export const LEFT_OUT: Readonly<Record<Need, string>> = {
  workers: "Left out: it needs the AgentKeeper SDK for Python, which `npm test` installs.",
  postgres: "Left out: it needs PostgreSQL; on Debian as root, `npm test` installs it.",
};

/** The exit code. */
export async function play(steps: readonly Step[], options: PlayerOptions): Promise<number> {
  const { stage, goesOn, isMissing, signal } = options;
  const isInterrupted = () => signal.aborted;
  for (const [i, { title, says, needs, play: act }] of steps.entries()) {
    if (isInterrupted()) return INTERRUPTED;
    await stage.open(title, `${i + 1} of ${steps.length}`);
    await stage.say(says);
    if (needs && isMissing(needs)) await stage.note(LEFT_OUT[needs]);
    else {
      try {
        await act(stage);
      } catch (error) {
        if (isInterrupted()) return INTERRUPTED;
        await stage.fail(error instanceof Error ? error.message : String(error));
        return 1;
      }
    }
    const isLast = i === steps.length - 1;
    if (isLast) break;
    await stage.invite("Enter goes on · q leaves ");
    if (!(await goesOn())) break;
  }
  return isInterrupted() ? INTERRUPTED : 0;
}
