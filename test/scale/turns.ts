/** How long the turns of this thread's loop may be. */
import { expect } from "vitest";
import { longestTurnMs } from "../support/machine/turns.ts";

/** Longer, and callers that wait behind it notice. */
export const TURN_MS = 20;
/** Where a state is rebuilt: V8 doubles a table of 100,000 in one go, which is not ours to cut. */
export const REBUILT_MS = 80;

/**
 * The first time makes what is kept from then on: that, too, is done in short turns. Where others
 * use the caches of the processor, too, the same work takes up to twice its time.
 */
export async function keepsNobodyWaiting(
  what: string,
  mostMs: number,
  act: () => Promise<unknown>,
) {
  const turnsMs = [await longestTurnMs(act), await longestTurnMs(act)];
  expect(Math.min(...turnsMs), `${what}, at best`).toBeLessThan(mostMs);
  expect(Math.max(...turnsMs), `${what}, at worst`).toBeLessThan(2 * mostMs);
}
