import { expect, test } from "vitest";
import { shutDown } from "./closing.ts";

test("a leader that is stopped stays a member until all but its resignation is done", async () => {
  const done: string[] = [];
  const part = (name: string) => ({
    async close() {
      // A part takes its time to close; the next one waits for it.
      await new Promise(setImmediate);
      done.push(name);
    },
  });
  const none = { close: () => undefined };
  await shutDown({
    logger: { info: () => undefined, error: () => undefined },
    doors: { ...part("doors"), stopAccepting: () => undefined },
    ownToken: none,
    pair: none,
    certificates: none,
    metrics: none,
    arcp: part("jobs"),
    services: part("services"),
    backups: part("backups"),
    audit: part("audit"),
    cluster: { ...part("way to members"), leave: async () => done.push("membership") },
    engine: part("engine"),
    store: part("store"),
  });
  const before = ["jobs", "services", "backups", "audit"];
  expect(done).toEqual([...before, "membership", "engine", "way to members", "doors", "store"]);
});
