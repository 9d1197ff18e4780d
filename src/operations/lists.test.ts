import { expect, test } from "vitest";
import { LIBRARY } from "../core/by.ts";
import type { State } from "../core/state.ts";
import type { Engine } from "../engine/engine.ts";
import { openEngine } from "../../test/support/engine/fixture.ts";
import { listPage } from "./lists.ts";

test("a filtered list that a deposed leader begins is of the state that it ends with", async () => {
  const { engine } = await openEngine();
  const set = (resource: string) =>
    engine.execute(
      {
        type: "policy.set",
        policy: { id: "p", subject: "s", action: "a", resource, effect: "deny" },
      },
      LIBRARY,
    );
  let last = "1";
  await set(last);
  // As the engine does when it finds that another one led meanwhile.
  const twice: Pick<Engine, "observers" | "read"> = {
    observers: engine.observers,
    read: async <T>(select: (state: State, sequence: number) => T) => {
      engine.peek((state) => select(state, engine.head));
      last += "1";
      await set(last);
      return engine.read(select);
    },
  };
  const page = await listPage(
    {
      engine: twice,
      list: ({ policies }) => policies,
      isWanted: () => true,
      show: ({ resource }) => resource,
    },
    { limit: 10 },
  );
  expect(page).toMatchObject({ items: [last], total: 1 });
  await engine.close();
});
