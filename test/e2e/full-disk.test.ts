import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { codeOf } from "../../src/core/errors.ts";
import { Engine } from "../../src/engine/engine.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { smallDisk } from "../small-disk.ts";
import { LIBRARY } from "../../src/core/by.ts";

const CARD = {
  name: "filler",
  description: "",
  version: "",
  capabilities: [],
  tools: [],
  metadata: {},
};

test("a full disk refuses writes, answers reads, and recovers with room", async (context) => {
  const { folder, freeRoom } = smallDisk(context);
  const store = sqliteStore({ path: join(folder, "rollcall.db") });
  const engine = await Engine.open({ log: store.log });
  const { agentId } = await engine.execute(
    { type: "agent.register", card: CARD, ttlMs: 60_000 },
    LIBRARY,
  );
  const create = async () =>
    engine.execute(
      {
        type: "task.create",
        taskType: "fill",
        input: "A".repeat(200_000),
        requiredTools: [],
        maxRetries: 0,
        ttlMs: 0,
      },
      LIBRARY,
    );
  let created = 0;
  const refusal = await (async () => {
    for (;;) {
      try {
        await create();
        created += 1;
      } catch (error) {
        return error;
      }
    }
  })();
  expect(codeOf(refusal)).toBe("UNAVAILABLE");
  expect(created).toBeGreaterThan(3);

  // Nothing half-done: exactly what was acknowledged is there, and it can be read.
  expect(await engine.read((state) => state.tasks.byId.size)).toBe(created);
  await expect(create()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await engine.heartbeat(agentId, LIBRARY);

  freeRoom();
  await vi.waitFor(create, { timeout: 10_000 });
  expect(await engine.read((state) => state.tasks.byId.size)).toBe(created + 1);
  await engine.close();
  await store.close();
});
