import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { CredentialConnections, type Cuttable } from "./credential-connections.ts";

class TestConnection extends EventEmitter implements Cuttable {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

test("a proxy's connection with many callers is listened to once, and ends with any", async () => {
  const clock = new TestClock();
  const revoked = new Set<string>();
  const connections = new CredentialConnections({ clock, isLive: (each) => !revoked.has(each) });
  const shared = new TestConnection();
  for (let i = 0; i < 100; i += 1) connections.add(`token ${i % 50}`, shared);
  expect(shared.listenerCount("close")).toBe(1);
  revoked.add("token 7");
  await clock.advance(1_000);
  expect(shared.destroyed).toBe(true);
  expect(clock.timers).toBe(0);
});
