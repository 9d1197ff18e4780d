/**
 * A group of agents of which one leads. A new candidate never displaces the leader; a leader stops
 * by resigning or dying, and then the candidate that has waited longest takes over at once, one
 * that is alive before one that is unreachable.
 *
 * The term grows with every change of leader, a vacancy included, and never falls: a group that was
 * forgotten leaves its term behind as the floor for groups yet to come.
 */
import { livingAgent, type Agent } from "./agents.ts";
import { ownerOf } from "./by.ts";
import { Heap, type Slot } from "./heap.ts";
import { decided, refuse, type Decision, type Moment, type Refusal } from "./decide.ts";
import type { Event } from "./events.ts";
import { invalid, key } from "./fields.ts";
import { IndexBy } from "./index-by.ts";
import { COUNT, RETENTION } from "./limits.ts";
import { beyondShare, Holdings, isCrowded, SHARED, wishOf } from "./shares.ts";
import type { State } from "./state.ts";

export interface Election {
  readonly group: string;
  /** Empty while nobody leads. */
  readonly leader: string;
  /** The owner of the leader; absent for `local`, and while nobody leads. */
  readonly owner?: string | undefined;
  readonly term: number;
  readonly electedAtMs: number;
}

export interface GroupEntry {
  election: Election;
  /** In order of joining; the leader is one of them. */
  readonly candidates: Set<string>;
  /** Rings when a group without candidates may be forgotten. */
  readonly timer: Slot<string>;
}

export class Elections {
  readonly byGroup = new Map<string, GroupEntry>();
  readonly byCandidate = new IndexBy();
  readonly empty = new Heap<string>();
  /** The groups with a leader, by its owner: the others make room for new ones. */
  readonly led = new Holdings();
  /** The highest term of any group that was forgotten. */
  termFloor = 0;
  /** Of all groups that are here. */
  highestTerm = 0;
}

interface Candidacy {
  readonly group: string;
  readonly agentId: string;
}

export type ElectionCommand = Candidacy & {
  readonly type: "election.campaign" | "election.resign";
};

export interface ElectionReplies {
  "election.campaign": Election;
  "election.resign": Election;
}

export type ElectionEvent =
  | {
      readonly type: "election.joined" | "election.left";
      readonly group: string;
      readonly agentId: string;
    }
  | { readonly type: "leader.changed"; readonly election: Election }
  | { readonly type: "election.forgotten"; readonly group: string };

export function decideElection(
  state: State,
  command: ElectionCommand,
  moment: Moment,
): Decision<Event, Election> {
  const { group, agentId } = command;
  const refusal = invalid(key("group", group));
  if (refusal) return refusal;
  const agent = livingAgent(state, agentId);
  if ("ok" in agent) return agent;
  const entry = state.elections.byGroup.get(group);
  switch (command.type) {
    case "election.campaign":
      return campaign(state, { group, agent: agent.agent }, moment);
    case "election.resign": {
      if (!entry?.candidates.has(agentId)) {
        return refuse("NOT_FOUND", `agent ${agentId} is not a candidate of ${group}`);
      }
      const events = leave(state, command, moment.nowMs);
      return decided(events, electionAfter(events, entry.election));
    }
  }
}

function campaign(
  state: State,
  { group, agent }: { readonly group: string; readonly agent: Agent },
  { nowMs }: Moment,
): Decision<Event, Election> {
  const { elections } = state;
  const { agentId, owner } = agent;
  const entry = elections.byGroup.get(group);
  if (entry?.candidates.has(agentId)) return decided([], entry.election);
  const isVacant = !entry || entry.election.leader === "";
  const full = isVacant
    ? beyondShare(SHARED.groups, wishOf(elections.led, ownerOf(agent)))
    : crowded(state, entry, ownerOf(agent));
  if (full) return full;
  if (elections.byCandidate.of(agentId).size >= COUNT.groupsPerAgent) {
    return refuse(
      "LIMIT_EXCEEDED",
      `agent ${agentId} is already a candidate of ${COUNT.groupsPerAgent} groups`,
    );
  }
  const joined: Event = { type: "election.joined", group, agentId };
  if (!isVacant) return decided([joined], entry.election);
  const room = entry ? [] : roomForGroup(elections);
  const term = nextTerm(state, entry);
  const election: Election = { group, leader: agentId, owner, term, electedAtMs: nowMs };
  return decided([...room, joined, { type: "leader.changed", election }], election);
}

/** Above the term before, and, after a loss, above every term that may have been lost. */
function nextTerm({ elections, fencing }: State, entry: GroupEntry | undefined): number {
  return Math.max(entry?.election.term ?? elections.termFloor, fencing.floor) + 1;
}

/** Groups that nobody leads do not count, so the one that is empty longest makes room. */
function roomForGroup({ byGroup, empty }: Elections): Event[] {
  const longestEmpty = byGroup.size < COUNT.groups ? undefined : empty.first();
  return longestEmpty === undefined ? [] : [{ type: "election.forgotten", group: longestEmpty }];
}

/** The refusal of one more candidate of an owner. */
function crowded(
  { agents }: State,
  { candidates }: GroupEntry,
  owner: string,
): Refusal | undefined {
  if (!isCrowded(SHARED.candidatesPerGroup, candidates.size)) return undefined;
  let own = 0;
  for (const each of candidates) {
    const candidate = agents.byId.get(each)?.agent;
    if (candidate && ownerOf(candidate) === owner) own += 1;
  }
  return beyondShare(SHARED.candidatesPerGroup, { owner, own, total: candidates.size });
}

/** The events of a candidate that goes, and of the next leader when it led. */
export function leave(state: State, { group, agentId }: Candidacy, nowMs: number): Event[] {
  const entry = state.elections.byGroup.get(group);
  if (!entry) return [];
  const left: Event = { type: "election.left", group, agentId };
  if (entry.election.leader !== agentId) return [left];
  const leader = successor(state, entry, agentId);
  const election: Election = {
    group,
    leader,
    owner: state.agents.byId.get(leader)?.agent.owner,
    term: nextTerm(state, entry),
    electedAtMs: nowMs,
  };
  return [left, { type: "leader.changed", election }];
}

function successor(state: State, { candidates }: GroupEntry, leaving: string): string {
  let fallback = "";
  for (const candidate of candidates) {
    if (candidate === leaving) continue;
    if (state.agents.byId.get(candidate)?.agent.status === "alive") return candidate;
    if (fallback === "") fallback = candidate;
  }
  return fallback;
}

function electionAfter(events: readonly Event[], before: Election): Election {
  let election = before;
  for (const event of events) if (event.type === "leader.changed") election = event.election;
  return election;
}

export function evolveElection(state: State, event: ElectionEvent): void {
  const { elections } = state;
  switch (event.type) {
    case "election.joined": {
      const entry = groupEntry(elections, event.group);
      entry.candidates.add(event.agentId);
      elections.byCandidate.add(event.agentId, event.group);
      elections.empty.remove(entry.timer);
      return;
    }
    case "election.left": {
      const entry = groupEntry(elections, event.group);
      entry.candidates.delete(event.agentId);
      elections.byCandidate.delete(event.agentId, event.group);
      if (entry.candidates.size === 0) {
        elections.empty.move(entry.timer, state.lastAtMs + RETENTION.emptyGroupMs);
      }
      return;
    }
    case "leader.changed":
      follow(elections, event.election);
      return;
    case "election.forgotten": {
      const entry = groupEntry(elections, event.group);
      elections.termFloor = Math.max(elections.termFloor, entry.election.term);
      elections.empty.remove(entry.timer);
      elections.byGroup.delete(event.group);
      return;
    }
  }
}

export function restoreGroup(
  { elections }: State,
  election: Election,
  candidates: readonly string[],
): void {
  const entry = follow(elections, election);
  for (const agentId of candidates) {
    entry.candidates.add(agentId);
    elections.byCandidate.add(agentId, election.group);
  }
  // The last to leave led until then, so the vacancy is as old as the emptiness.
  if (candidates.length === 0) {
    elections.empty.move(entry.timer, election.electedAtMs + RETENTION.emptyGroupMs);
  }
}

function follow(elections: Elections, election: Election): GroupEntry {
  const entry = groupEntry(elections, election.group);
  const { election: before } = entry;
  if (before.leader !== "") elections.led.remove(ownerOf(before));
  if (election.leader !== "") elections.led.add(ownerOf(election));
  entry.election = election;
  elections.highestTerm = Math.max(elections.highestTerm, election.term);
  return entry;
}

function groupEntry(elections: Elections, group: string): GroupEntry {
  const found = elections.byGroup.get(group);
  if (found) return found;
  const made: GroupEntry = {
    election: { group, leader: "", term: elections.termFloor, electedAtMs: 0 },
    candidates: new Set(),
    timer: { at: 0, value: group, place: -1 },
  };
  elections.byGroup.set(group, made);
  return made;
}

export function dueElection(elections: Elections): number | undefined {
  return elections.empty.nextAt();
}

export function expireElection(state: State, nowMs: number): readonly Event[] {
  const timer = state.elections.empty.takeDue(nowMs);
  return timer ? [{ type: "election.forgotten", group: timer.value }] : [];
}
