import { expect, onTestFinished, test, vi } from "vitest";
import { ArcpClient } from "../../wires/arcp/client/client.ts";
import type { ClientState } from "../../wires/arcp/client/types.ts";
import { RollcallError } from "../../core/errors.ts";
import { Engine } from "../../engine/engine.ts";
import { systemClock } from "../../machine/clock.ts";
import { Fleet } from "../../fleet/fleet.ts";
import type { Streams } from "../../log/streams.ts";
import { memoryStore } from "../../log/memory/store.ts";
import { pairMemoryTransports } from "../../wires/arcp/transports/memory.ts";
import { LOCAL } from "../auth.ts";
import { createLogger } from "../logger.ts";
import { ArcpService } from "./service.ts";

/** Fails as often as it is told to. */
function failing(inner: Streams): { readonly journal: Streams; fails: number } {
  const held = {
    fails: 0,
    journal: new Proxy(inner, {
      get(target, name) {
        if (name === "appendAll" && held.fails > 0) {
          held.fails -= 1;
          return async () => {
            throw new RollcallError("STORAGE_FULL", "the disk is full");
          };
        }
        const value = Reflect.get(target, name) as unknown;
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    }),
  };
  return held;
}

async function start() {
  const store = memoryStore();
  const engine = await Engine.open({ log: store.log, node: "n1" });
  const fleet = new Fleet({ engine, clock: systemClock });
  const disk = failing(store.streams);
  const lines: string[] = [];
  const service = await ArcpService.start({
    agents: [],
    journal: disk.journal,
    engine,
    fleet,
    clock: systemClock,
    logger: createLogger({ level: "info", isTerminal: true, write: (line) => lines.push(line) }),
    version: "1.0.0",
    env: {},
    local: LOCAL,
  });
  onTestFinished(async () => {
    await service.close();
    fleet.close();
    await engine.close();
    await store.close();
  });
  return { service, disk, lines, engine };
}

function connect(
  service: ArcpService,
  token = "x",
  onState: (state: ClientState) => void = () => undefined,
): Promise<ArcpClient> {
  return ArcpClient.connect(
    () => {
      const [theirs, ours] = pairMemoryTransports();
      service.accept(ours);
      return theirs;
    },
    { token, onState },
  );
}

test("whoever a door lets in is the same one, by any token but none", async () => {
  const { service } = await start();
  await using client = await connect(service, "anything");
  expect(client.session.runtime.name).toBe("rollcall");
  expect(service.numbers()).toMatchObject({ connections: 1, sessions: 1, children: 0 });
  await expect(connect(service, "")).rejects.toThrow("payload.auth.token is empty");
  await expect(client.submit({ agent: "nobody" })).rejects.toThrow("no agent nobody");
});

test("a disk that was full for a while costs connections, not sessions", async () => {
  const { service, disk, lines } = await start();
  const states: string[] = [];
  await using client = await connect(service, "x", (state) => states.push(state.kind));
  disk.fails = 1;
  await expect(connect(service)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(service.trouble).toBe("jobs cannot be recorded");
  await vi.waitFor(() => expect(lines.join("")).toContain("jobs can be recorded again"), {
    timeout: 10_000,
  });
  expect(service.trouble).toBeUndefined();
  await expect(client.submit({ agent: "nobody" })).rejects.toThrow("no agent nobody");
  expect(states).toEqual(["live", "lost", "resumed"]);
}, 30_000);
