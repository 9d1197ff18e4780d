/** The cluster, as operations show it (operations/cluster.ts). */
import { FORMATS } from "../../core/formats.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../log/store.ts";
import type { ClusterOperations, MemberStatus } from "../../operations/cluster.ts";
import type { Greeting } from "../../wires/members/server/service.ts";
import type { Cluster } from "./cluster.ts";

interface OperationParts {
  readonly engine: Engine;
  readonly store: Store;
}

export function clusterOperations(
  cluster: Cluster,
  { engine, store }: OperationParts,
): ClusterOperations {
  return {
    status() {
      const { leader, isMember } = cluster;
      const { node, mode, head } = engine;
      return {
        node,
        mode,
        isMember,
        ...(leader !== undefined && { leader }),
        epoch: engine.peek(({ leadership }) => leadership.epoch),
        head,
        format: engine.peek(({ format }) => format),
        newestFormat: FORMATS[1],
        logId: engine.known.logId,
        state: store.description,
        members: engine.peek(({ members }) => members.byNode.size),
      };
    },
    async members() {
      const answers = await cluster.greetings();
      const members = engine.peek((state) => [...state.members.byNode.values()]);
      const { leader } = cluster;
      return members
        .map(({ member }): MemberStatus => {
          const { node, address, version, instance, joinedAtMs, formats } = member;
          const answer = answers.get(node);
          const [, newestFormat] = formats;
          const known = { node, address, version, instance, joinedAtMs, newestFormat };
          return { ...known, isLeader: node === leader, ...answered(answer, instance) };
        })
        .toSorted((a, b) => (a.node < b.node ? -1 : 1));
    },
    stepDown: (node, by) => cluster.stepDown(node, by),
  };
}

/** Another node at the same address is no answer. */
function answered(answer: Greeting | undefined, instance: string) {
  if (answer?.instance !== instance) return { answers: false };
  const { mode, head, logId } = answer;
  return { answers: true, mode, head, logId };
}
