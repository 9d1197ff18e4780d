/**
 * The members of a cluster: the nodes that share one log, each with the address at which the others
 * reach it. That a node is a member says nothing about who leads (nodes.ts).
 *
 *   join ──▶ member ──leaves, or is silent for as long as it said──▶ gone
 *
 * Signs of life are soft, like the heartbeats of agents: the leader notes them, and only coming and
 * going are events. A name belongs to one instance at a time: a second node that is started under
 * the name of a living one is refused, and the same node after a restart is not.
 */
import { decided, refuse, type Decision, type Moment, type Refusal } from "./decide.ts";
import type { Event } from "./events.ts";
import { invalid, key, line } from "./fields.ts";
import { FORMATS, raiseFormat } from "./formats.ts";
import { Heap, type Slot } from "./heap.ts";
import { FIELD, MEMBERS } from "./limits.ts";
import type { State } from "./state.ts";

/** A node as it introduces itself. */
export interface Introduction {
  readonly node: string;
  /** Made once and kept with the node's own files: the same after a restart. */
  readonly instance: string;
  /** HOST:PORT, for the other members. */
  readonly address: string;
  readonly version: string;
  /** The oldest and the newest format of events that it reads and writes. */
  readonly formats: readonly [oldest: number, newest: number];
  /** How long it may be silent before it is no longer a member. */
  readonly lostAfterMs: number;
}

export interface ClusterMember extends Introduction {
  readonly joinedAtMs: number;
}

export interface MemberEntry {
  readonly member: ClusterMember;
  /** Soft: moved by signs of life, not recorded. */
  seenAtMs: number;
  readonly timer: Slot<string>;
}

export class Members {
  readonly byNode = new Map<string, MemberEntry>();
  /** When to look at one again. */
  readonly deadlines = new Heap<string>();
}

export type MemberCommand =
  | { readonly type: "node.join"; readonly member: Introduction }
  /** With an instance it is the node itself that goes; without one an operator gives it up. */
  | { readonly type: "node.leave"; readonly node: string; readonly instance?: string }
  /** By an operator, once all members are upgraded. */
  | { readonly type: "node.finalize" };

export interface MemberReplies {
  "node.join": ClusterMember;
  "node.leave": null;
  "node.finalize": { readonly format: number };
}

export type MemberEvent =
  | { readonly type: "node.joined"; readonly member: ClusterMember }
  | {
      readonly type: "node.left";
      readonly node: string;
      readonly instance: string;
      readonly cause: "left" | "removed" | "silent";
    }
  /** From now on the log may say what came with this format. */
  | { readonly type: "node.finalized"; readonly format: number };

export function decideMember(
  state: State,
  command: MemberCommand,
  moment: Moment,
): Decision<Event, MemberReplies[MemberCommand["type"]]> {
  switch (command.type) {
    case "node.join":
      return join(state, command.member, moment);
    case "node.leave":
      return leave(state, command, moment);
    case "node.finalize":
      return raise(state);
  }
}

function join(
  state: State,
  given: Introduction,
  { nowMs }: Moment,
): Decision<Event, ClusterMember> {
  const refusal = invalid(
    key("node", given.node, FIELD.nameLength),
    key("instance", given.instance, FIELD.nameLength),
    key("address", given.address),
    line("version", given.version, FIELD.versionLength),
  );
  if (refusal) return refusal;
  const unfit = formatRefusal(state, given);
  if (unfit) return unfit;
  const { byNode } = state.members;
  const entry = byNode.get(given.node);
  if (entry && entry.member.instance !== given.instance && isLiving(state, entry, nowMs)) {
    const where = `node ${given.node} is a member already, at ${entry.member.address}, and lives`;
    const message = `${where}: give this one another name with --node, or stop that one`;
    return refuse("ALREADY_EXISTS", message);
  }
  if (!entry && byNode.size >= MEMBERS.most) {
    return refuse("LIMIT_EXCEEDED", `there are ${byNode.size} members, the most that may be`);
  }
  const member: ClusterMember = { ...given, joinedAtMs: nowMs };
  if (entry && isSame(entry.member, given)) return decided([], entry.member);
  return decided([{ type: "node.joined", member }], member);
}

function formatRefusal({ format }: State, given: Introduction): Refusal | undefined {
  const { node, version, formats } = given;
  const [oldest, newest] = formats;
  const what = `node ${node} (${version}) reads formats ${oldest} to ${newest} of the log`;
  if (newest < format) {
    return refuse("STORAGE_TOO_NEW", `${what}, which is in format ${format}: upgrade it`);
  }
  if (oldest <= format) return undefined;
  const fix = "run a version between, and rollcall cluster finalize, first";
  return refuse("WRONG_STATE", `${what}, which is in format ${format}: ${fix}`);
}

/** To the newest of this program, which leads, when all members have it. */
function raise({ format, members }: State): Decision<Event, { readonly format: number }> {
  const [, newest] = FORMATS;
  const older = [...members.byNode.values()].find(({ member }) => member.formats[1] < newest);
  if (older) {
    const { node, version, formats } = older.member;
    const fix = `upgrade it, or if it is gone: rollcall cluster leave ${node}`;
    const message = `node ${node} (${version}) reads up to format ${formats[1]}, not ${newest}`;
    return refuse("WRONG_STATE", `${message}: ${fix}`);
  }
  const events: Event[] = format < newest ? [{ type: "node.finalized", format: newest }] : [];
  return decided(events, { format: newest });
}

function isSame(known: ClusterMember, given: Introduction): boolean {
  return JSON.stringify({ ...given, joinedAtMs: known.joinedAtMs }) === JSON.stringify(known);
}

function leave(
  state: State,
  { node, instance }: MemberCommand & { readonly type: "node.leave" },
  { nowMs }: Moment,
): Decision<Event, null> {
  const entry = state.members.byNode.get(node);
  const isItself = instance !== undefined;
  if (!entry) return isItself ? decided([], null) : refuse("NOT_FOUND", `no member ${node}`);
  const { member } = entry;
  if (isItself && member.instance !== instance) return decided([], null);
  if (!isItself && isLiving(state, entry, nowMs)) {
    const fix = "stop it there, and it leaves by itself";
    return refuse("WRONG_STATE", `node ${node} lives, at ${member.address}: ${fix}`);
  }
  const cause = isItself ? "left" : "removed";
  return decided([{ type: "node.left", node, instance: member.instance, cause }], null);
}

/** Whether it was heard lately, or nobody could hear it. */
function isLiving(state: State, entry: MemberEntry, nowMs: number): boolean {
  return nowMs - heardAtMs(state, entry) < MEMBERS.livingMs;
}

function heardAtMs({ graceFromMs }: State, { seenAtMs }: MemberEntry): number {
  return Math.max(seenAtMs, graceFromMs);
}

/** Takes a sign of life; false where this very instance is no member. */
export function seeMember(
  { members }: State,
  { node, instance }: Pick<Introduction, "node" | "instance">,
  nowMs: number,
): boolean {
  const entry = members.byNode.get(node);
  if (entry?.member.instance !== instance) return false;
  entry.seenAtMs = nowMs;
  return true;
}

export function evolveMember(state: State, event: MemberEvent): void {
  if (event.type === "node.finalized") return raiseFormat(state, event.format);
  const { members } = state;
  const { node } = event.type === "node.joined" ? event.member : event;
  const before = members.byNode.get(node);
  if (before) members.deadlines.remove(before.timer);
  members.byNode.delete(node);
  if (event.type === "node.joined") restoreMember(state, event.member);
}

export function restoreMember({ members }: State, member: ClusterMember): void {
  const { node, joinedAtMs, lostAfterMs } = member;
  const timer = members.deadlines.add(joinedAtMs + lostAfterMs, node);
  members.byNode.set(node, { member, seenAtMs: joinedAtMs, timer });
}

export function dueMember({ deadlines }: Members): number | undefined {
  return deadlines.nextAt();
}

/** One member that was silent for too long; nothing when its timer rang early. */
export function expireMember(state: State, nowMs: number): readonly Event[] {
  const { members } = state;
  const entry = members.byNode.get(members.deadlines.takeDue(nowMs)?.value ?? "");
  if (!entry) return [];
  const { node, instance, lostAfterMs } = entry.member;
  const deadlineMs = heardAtMs(state, entry) + lostAfterMs;
  if (deadlineMs > nowMs) {
    members.deadlines.move(entry.timer, deadlineMs);
    return [];
  }
  return [{ type: "node.left", node, instance, cause: "silent" }];
}
