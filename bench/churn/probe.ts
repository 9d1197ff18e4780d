/**
 * Somebody who calls now and then, whatever else goes on: one call every few milliseconds, by the
 * clock, and how long each was in coming back.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  EntitlementsService,
  RegistryService,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { Caller } from "./caller.ts";

const EVERY_MS = 5;

export type Times = ReadonlyMap<string, number[]>;

export async function probe(port: number, agentId: string, seconds: number): Promise<Times> {
  const caller = new Caller(port);
  const subject = "agent:probe";
  const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["GetAgent", () => caller.call(RegistryService.method.getAgent, { agentId })],
    [
      "CheckPolicy",
      () =>
        caller.call(EntitlementsService.method.checkPolicy, {
          subject,
          action: "call",
          resource: "tool:x",
        }),
    ],
    ["Heartbeat", () => caller.call(RegistryService.method.heartbeat, { agentId })],
  ];
  const times = new Map(calls.map(([name]): [string, number[]] => [name, []]));
  const open: Promise<void>[] = [];
  const startMs = performance.now();
  for (let turn = 0; performance.now() - startMs < seconds * 1000; turn += 1) {
    const [name, call] = calls[turn % calls.length] ?? ["", () => Promise.resolve()];
    const sentMs = performance.now();
    open.push(call().then(() => void times.get(name)?.push(performance.now() - sentMs)));
    await sleep(Math.max(0, startMs + (turn + 1) * EVERY_MS - performance.now()));
  }
  await Promise.all(open);
  caller.close();
  return times;
}
