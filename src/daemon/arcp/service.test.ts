import { expect, onTestFinished, test, vi } from "vitest";
import { ArcpClient } from "../../wires/arcp/client/client.ts";
import type { ClientState } from "../../wires/arcp/client/types.ts";
import { RollcallError } from "../../core/errors.ts";
import { Engine } from "../../engine/engine.ts";
import { systemClock } from "../../machine/clock.ts";
import { Fleet } from "../../fleet/fleet.ts";
import type { Log } from "../../log/log.ts";
import { memoryStore } from "../../log/memory/store.ts";
import { pairMemoryTransports } from "../../wires/arcp/transports/memory.ts";
import { createLogger } from "../logger.ts";
import { DaemonArcp, type DaemonArcpOptions } from "./service.ts";
import { LIBRARY } from "../../core/by.ts";

/** A log that fails as often as it is told to. */
function failing(inner: Log): { readonly log: Log; fails: number } {
  const held = {
    fails: 0,
    log: new Proxy(inner, {
      get(target, name) {
        if (name === "append" && held.fails > 0) {
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

async function start(audit?: DaemonArcpOptions["audit"]) {
  const store = memoryStore();
  const disk = failing(store.log);
  const service = await DaemonArcp.start({
    agents: [],
    node: "n1",
    streams: store.streams,
    clock: systemClock,
    logger: createLogger({ level: "error" }),
    version: "1.0.0",
    env: {},
    ...(audit && { audit }),
  });
  const engine = await Engine.open({ log: disk.log, node: "n1", companion: service.companion });
  const fleet = new Fleet({ engine, clock: systemClock });
  service.open(fleet);
  onTestFinished(async () => {
    await service.close();
    fleet.close();
    await engine.close();
    await store.close();
  });
  return { service, disk, engine };
}

function connect(
  service: DaemonArcp,
  token = "x",
  onState: (state: ClientState) => void = () => undefined,
): Promise<ArcpClient> {
  return ArcpClient.connect(
    () => {
      const [theirs, ours] = pairMemoryTransports();
      service.accept(ours, () => LIBRARY);
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

test("a submit that policy denies is told to the audit, with its caller and agent", async () => {
  const denials: string[] = [];
  const { service, engine } = await start({
    denied: ({ by, action, target }, reason) =>
      void denials.push(`${by.principal.name} ${by.wire} ${action} ${target}: ${reason}`),
  });
  service.companion.agents.register("echo", (input) => input);
  await using client = await connect(service);
  const allow = (subject: string, action: string, resource: string) => {
    const policy = {
      id: `${subject}/${action}`,
      subject,
      action,
      resource,
      effect: "allow",
    } as const;
    return engine.execute({ type: "policy.set", policy }, LIBRARY);
  };
  await allow(LIBRARY.principal.name, "fs.read", "/data/*");
  const lease = { "fs.read": ["/etc/passwd"] };
  await expect(client.submit({ agent: "echo", lease })).rejects.toThrow("fs.read");
  await allow("somebody", "job.submit", "agent:echo");
  await expect(client.submit({ agent: "echo" })).rejects.toThrow("may not submit to echo");
  await allow(LIBRARY.principal.name, "job.submit", "agent:echo");
  await (
    await client.submit({ agent: "echo" })
  ).done;
  const [from, submit] = [`${LIBRARY.principal.name} ${LIBRARY.wire}`, "job.submit agent:echo"];
  expect(denials).toEqual([
    expect.stringMatching(`^${from} ${submit}: .*fs.read`),
    expect.stringMatching(`^${from} ${submit}: .*may not submit to echo: no matching policy`),
  ]);
});

test("a disk that was full for a while costs connections, not sessions", async () => {
  const { service, disk, engine } = await start();
  const states: string[] = [];
  await using client = await connect(service, "x", (state) => states.push(state.kind));
  disk.fails = 1;
  await expect(connect(service)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(engine.mode).not.toBe("leading");
  await vi.waitFor(() => expect(engine.mode).toBe("leading"), { timeout: 10_000 });
  await vi.waitFor(() => expect(states.at(-1)).toBe("resumed"), { timeout: 10_000 });
  await expect(client.submit({ agent: "nobody" })).rejects.toThrow("no agent nobody");
  expect(states).toEqual(["live", "lost", "resumed"]);
}, 30_000);
