/**
 * Heartbeats of many agents at a cluster of three processes: all of them at the leader, as at one
 * daemon alone, against the same number spread over the three. Compared are the processor time of
 * the leader for each, and the bytes between members.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../src/machine/clock.ts";
import { GrpcChannel } from "../../src/net/grpc/client-channel.ts";
import { callUnary } from "../../src/net/grpc/client.ts";
import { RegistryService } from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { TestCluster, type MemberProcess } from "../../test/cluster/members.ts";

/** Longer than the bench takes: what is measured are heartbeats, not their absence. */
const TTL_SECONDS = 3_600;
const CALLERS = 256;
/** Of the clock of /proc. */
const TICK_MS = 10;

interface HeartbeatLoad {
  readonly agents: number;
  readonly heartbeats: number;
}

export interface HeartbeatCost {
  /** Of the leader for each heartbeat, wherever it came in. */
  readonly aloneUs: number;
  readonly spreadUs: number;
  /** Between members, for each heartbeat that came in at one that follows. */
  readonly bytes: number;
}

export async function heartbeatCost(load: HeartbeatLoad): Promise<HeartbeatCost> {
  const cluster = await TestCluster.start("postgres", { isWired: true });
  try {
    const leader = await cluster.leader();
    const channels = new Map(
      cluster.members.map((member) => [
        member,
        new GrpcChannel({ address: member.grpc, timers: systemClock }),
      ]),
    );
    const ids = await registered(channelOf(channels, leader), load.agents);
    const measured = async (places: readonly MemberProcess[]) => {
      const at = places.map((place) => channelOf(channels, place));
      const [startMs, startBytes] = [cpuMs(leader), cluster.carriedBytes];
      await beat(at, ids, load.heartbeats);
      const us = ((cpuMs(leader) - startMs) * 1000) / load.heartbeats;
      return { us, bytes: cluster.carriedBytes - startBytes };
    };
    await measured(cluster.members);
    const alone = await measured([leader]);
    const spread = await measured(cluster.members);
    for (const channel of channels.values()) channel.close();
    const followed = (load.heartbeats * (cluster.members.length - 1)) / cluster.members.length;
    return { aloneUs: alone.us, spreadUs: spread.us, bytes: spread.bytes / followed };
  } finally {
    await cluster.close();
  }
}

function channelOf(channels: ReadonlyMap<MemberProcess, GrpcChannel>, of: MemberProcess) {
  const channel = channels.get(of);
  if (!channel) throw new Error(`no channel to ${of.node}`);
  return channel;
}

async function registered(channel: GrpcChannel, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  const message = { card: { name: "agent" }, ttlSeconds: TTL_SECONDS };
  await atOnce(count, async () => {
    const answer = await callUnary(channel, RegistryService.method.register, { message });
    ids.push(answer.message.agentId);
  });
  return ids;
}

/** Each agent has its member, as agents do. */
async function beat(
  channels: readonly GrpcChannel[],
  ids: readonly string[],
  count: number,
): Promise<void> {
  await atOnce(count, async (n) => {
    const channel = channels[n % channels.length];
    const agentId = ids[n % ids.length] ?? "";
    if (!channel) return;
    await callUnary(channel, RegistryService.method.heartbeat, { message: { agentId } });
  });
  // What members sent at the end is taken.
  await delay(100);
}

async function atOnce(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

/** User and system time of its process. */
function cpuMs({ pid }: MemberProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
