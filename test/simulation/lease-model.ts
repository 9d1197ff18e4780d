/** One lease key: free, or held by one agent with a token that is higher than all before. */
import type { LeaseCommand, LeaseReplies } from "../../src/core/leases.ts";
import type { Op } from "./history.ts";
import type { Model } from "./linearizable.ts";
import { commandOf, including, isRefused, told, type Input, type Told } from "./model.ts";

interface LeaseState {
  /** Empty while it is free. */
  readonly holder: string;
  /** 0 while nobody has told it: whoever acquired it was not answered. */
  readonly token: number;
  readonly highest: number;
  readonly living: ReadonlySet<string>;
}

export const leaseModel: Model<LeaseState, Input> = {
  initial: { holder: "", token: 0, highest: 0, living: new Set() },
  step(state, input) {
    if (input.kind === "asked") return asked(state, input.op);
    const { event } = input;
    switch (event.type) {
      case "agent.registered":
        return { ...state, living: including(state.living, event.agent.agentId) };
      case "agent.died": {
        const { agentId } = event.agent;
        const living = new Set([...state.living].filter((each) => each !== agentId));
        return state.holder === agentId ? { ...freed(state), living } : { ...state, living };
      }
      case "lease.expired": {
        const held = holding(state, event.lease.holder, event.lease.token);
        return held && freed(held);
      }
      default:
        return undefined;
    }
  },
  key: ({ holder, token, highest }) => `${holder} ${token} ${highest}`,
};

function asked(state: LeaseState, op: Op): LeaseState | undefined {
  if (op.ask.kind === "read") {
    const answer = told<string>(op);
    if (answer.kind !== "ok") return undefined;
    const lease = JSON.parse(answer.reply) as { holder: string; token: number } | null;
    if (!lease) return state.holder === "" ? state : undefined;
    return holding(state, lease.holder, lease.token);
  }
  const acquire = commandOf(op, "lease.acquire");
  if (acquire) return acquired(state, acquire.agentId, told(op));
  const command = commandOf(op, "lease.renew", "lease.release");
  return command && heldCommand(state, command, told(op));
}

function acquired(
  state: LeaseState,
  agentId: string,
  answer: Told<LeaseReplies["lease.acquire"]>,
): LeaseState | undefined {
  if (!state.living.has(agentId)) return refusedOnly(state, answer);
  switch (answer.kind) {
    case "refused":
      return undefined;
    case "unknown":
      return state.holder === "" ? { ...state, holder: agentId, token: 0 } : state;
    case "ok": {
      const { lease } = answer.reply;
      if (answer.reply.acquired !== (lease.holder === agentId)) return undefined;
      if (state.holder !== "") return holding(state, lease.holder, lease.token);
      return answer.reply.acquired
        ? holding({ ...state, holder: agentId, token: 0 }, agentId, lease.token)
        : undefined;
    }
  }
}

function heldCommand(
  state: LeaseState,
  command: LeaseCommand & { readonly type: "lease.renew" | "lease.release" },
  answer: Told<unknown>,
): LeaseState | undefined {
  const { agentId, token } = command;
  if (!state.living.has(agentId) || state.holder === "") return refusedOnly(state, answer);
  const held = holding(state, agentId, token);
  // A token nobody has told may be another one.
  if (isRefused(answer, "NOT_HOLDER")) return held && state.token !== 0 ? undefined : state;
  if (answer.kind === "refused") return undefined;
  if (!held) return answer.kind === "unknown" ? state : undefined;
  return command.type === "lease.release" ? freed(held) : held;
}

function refusedOnly(state: LeaseState, answer: Told<unknown>): LeaseState | undefined {
  return answer.kind === "unknown" || isRefused(answer, "NOT_FOUND") ? state : undefined;
}

/** The state, if it is held so; now the token is known. */
function holding(state: LeaseState, holder: string, token: number): LeaseState | undefined {
  if (state.holder !== holder) return undefined;
  // A caller that is not its holder is not told.
  if (token === 0) return state;
  if (state.token === 0 && token > state.highest) return { ...state, token, highest: token };
  return state.token === token ? state : undefined;
}

function freed(state: LeaseState): LeaseState {
  return { ...state, holder: "", token: 0 };
}
