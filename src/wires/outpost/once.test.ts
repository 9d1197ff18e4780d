/**
 * Exactly once and in order, whatever is cut or killed: the reports in the team's log are those of
 * the machine's log, no more, no fewer, in the same order.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Event } from "../../core/events.ts";
import { Box } from "../../../test/support/outposts/box.ts";
import { FakeTeam } from "../../../test/support/outposts/fake-team.ts";
import { quiet, TestClock } from "../../../test/support/engine/fixture.ts";

type Move =
  | { readonly kind: "say"; readonly agent: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "lost" | "unheard" | "cut" | "killTeam" | "killBox" };

const MOVES: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("say" as const), agent: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(0, 50, 300, 6_000, 120_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("lost", "unheard", "cut", "killTeam", "killBox"),
    }),
  },
);

function messagesIn(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== "fleet.reported") return [];
    const { agentId, facts } = event.report;
    return [`${agentId}: ${facts.activity?.message}`];
  });
}

/** The link that the killed daemon had goes with it; another process has another uplink. */
async function play(box: Box, team: FakeTeam, { move, clock, n }: Step): Promise<void> {
  switch (move.kind) {
    case "say":
      return box.say(`agent-${move.agent}`, `step ${n}`);
    case "wait":
      return clock.advance(move.ms);
    case "lost":
    case "unheard":
      team.faults.push(move.kind);
      return;
    case "cut":
      return team.cut();
    case "killTeam":
      return team.restart();
    case "killBox": {
      const killed = box.uplink;
      team.cut();
      const isReachable = team.isReachable;
      team.isReachable = false;
      await killed.close();
      team.isReachable = isReachable;
      box.start();
    }
  }
}

interface Step {
  readonly move: Move;
  readonly clock: TestClock;
  readonly n: number;
}

test("the team has what the machine said, once each and in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(MOVES, { maxLength: 25 }), async (moves) => {
      const clock = new TestClock();
      const team = new FakeTeam(clock);
      await team.start();
      const box = await Box.open(team, clock);
      await quiet();
      for (const [n, move] of moves.entries()) await play(box, team, { move, clock, n });
      await box.say("agent-0", "the last word");
      await clock.advance(30_000);
      expect(messagesIn(await team.events())).toEqual(box.said);
      expect(box.uplink.status).toMatchObject({ state: "connected", host: "box" });
      await box.close();
      await team.stop();
      expect(clock.timers).toBe(0);
    }),
    { numRuns: 40 },
  );
}, 120_000);
