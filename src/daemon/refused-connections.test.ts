import { expect, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { MINUTE } from "../core/units.ts";
import { RefusedConnections } from "./refused-connections.ts";

test("the first is said at once, the others once a minute, and all are counted", async () => {
  const clock = new TestClock();
  const said: unknown[] = [];
  const refused = new RefusedConnections({ clock, warn: (numbers) => said.push(numbers) });
  for (let i = 0; i < 5; i += 1) refused.add();
  expect(said).toEqual([{ refused: 1 }]);
  await clock.advance(MINUTE);
  expect(said).toEqual([{ refused: 1 }, { refused: 4 }]);
  await clock.advance(10 * MINUTE);
  refused.add();
  expect(said).toHaveLength(3);
  expect(refused.total).toBe(6);
  refused.close();
  expect(clock.timers).toBe(0);
});
