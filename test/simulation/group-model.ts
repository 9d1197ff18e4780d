/** One election group: candidates in order, the one who leads, and a term that only grows. */
import type { Election } from "../../src/core/elections.ts";
import type { Op } from "./history.ts";
import type { Model } from "./linearizable.ts";
import { commandOf, including, isRefused, told, without, type Input } from "./model.ts";

interface GroupState {
  readonly isKnown: boolean;
  readonly leader: string;
  readonly term: number;
  readonly candidates: readonly string[];
  readonly living: ReadonlySet<string>;
  readonly unreachable: ReadonlySet<string>;
  /** Terms of groups that were forgotten; a group that comes back starts above them. */
  readonly floor: number;
}

export function groupModel(group: string): Model<GroupState, Input> {
  return {
    initial: {
      isKnown: false,
      leader: "",
      term: 0,
      candidates: [],
      living: new Set(),
      unreachable: new Set(),
      floor: 0,
    },
    step(state, input) {
      if (input.kind === "asked") return asked(state, input.op);
      const { event, termFloor: floor } = input;
      switch (event.type) {
        case "agent.registered":
          return { ...state, living: including(state.living, event.agent.agentId) };
        case "agent.unreachable":
          return { ...state, unreachable: including(state.unreachable, event.agent.agentId) };
        case "agent.recovered":
          return { ...state, unreachable: without(state.unreachable, event.agent.agentId) };
        case "agent.died": {
          const { agentId } = event.agent;
          return { ...left(state, agentId), living: without(state.living, agentId) };
        }
        case "election.forgotten":
          if (event.group !== group) return { ...state, floor };
          return { ...state, isKnown: false, leader: "", candidates: [], floor };
        default:
          return undefined;
      }
    },
    key: ({ leader, term, candidates }) => `${leader} ${term} ${candidates.join(" ")}`,
  };
}

function asked(state: GroupState, op: Op): GroupState | undefined {
  if (op.ask.kind === "read") {
    const { isKnown, leader, term, candidates } = state;
    const answer = told<string>(op);
    const now = JSON.stringify(isKnown ? { leader, term, candidates } : null);
    return answer.kind === "ok" && answer.reply === now ? state : undefined;
  }
  const command = commandOf(op, "election.campaign", "election.resign");
  if (!command) return undefined;
  const { type, agentId } = command;
  const answer = told<Election>(op);
  const isCandidate = state.candidates.includes(agentId);
  if (!state.living.has(agentId) || (type === "election.resign" && !isCandidate)) {
    return answer.kind === "unknown" || isRefused(answer, "NOT_FOUND") ? state : undefined;
  }
  if (answer.kind === "refused") return undefined;
  const after = type === "election.resign" ? left(state, agentId) : joined(state, agentId);
  if (answer.kind === "unknown") return after;
  const { leader, term } = answer.reply;
  return leader === after.leader && term === after.term ? after : undefined;
}

function joined(state: GroupState, agentId: string): GroupState {
  if (state.candidates.includes(agentId)) return state;
  const candidates = [...state.candidates, agentId];
  if (state.leader !== "") return { ...state, candidates };
  const term = (state.isKnown ? state.term : state.floor) + 1;
  return { ...state, candidates, isKnown: true, leader: agentId, term };
}

/** Whoever has waited longest takes over; one who is alive before one who cannot be reached. */
function left(state: GroupState, agentId: string): GroupState {
  if (!state.candidates.includes(agentId)) return state;
  const candidates = state.candidates.filter((each) => each !== agentId);
  if (state.leader !== agentId) return { ...state, candidates };
  const alive = candidates.find((each) => !state.unreachable.has(each));
  return { ...state, candidates, leader: alive ?? candidates[0] ?? "", term: state.term + 1 };
}
