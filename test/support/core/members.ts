/** For tests: a few members that come and go, and what must hold of those that are there. */
import { FORMATS } from "../../../src/core/formats.ts";
import type { Introduction, MemberCommand } from "../../../src/core/members.ts";
import type { State } from "../../../src/core/state.ts";
import { sizeProblem, timerProblems } from "./audit-timers.ts";

export function introduction(facts: Partial<Introduction> = {}): Introduction {
  return {
    node: "a",
    instance: "i1",
    address: "10.0.0.1:7071",
    version: "0.1.0",
    formats: FORMATS,
    lostAfterMs: 30_000,
    ...facts,
  };
}

interface MemberPick {
  readonly who: number;
  readonly what: number;
  readonly how: number;
}

export function someMemberCommand({ who, what, how }: MemberPick): MemberCommand {
  const node = `m${who % 3}`;
  const instance = `i${what % 2}`;
  if (how % 4 === 0) return { type: "node.leave", node };
  if (how % 4 === 1) return { type: "node.leave", node, instance };
  if (how % 8 === 2) return { type: "node.finalize" };
  const lostAfterMs = [1000, 30_000][what % 2] ?? 0;
  return { type: "node.join", member: introduction({ node, instance, lostAfterMs }) };
}

export function memberProblems({ members, graceFromMs }: State): string[] {
  const problems: string[] = [];
  for (const [node, { member, seenAtMs, timer }] of members.byNode) {
    if (member.node !== node) problems.push(`${node} is filed under another name`);
    const lostAtMs = Math.max(seenAtMs, graceFromMs) + member.lostAfterMs;
    problems.push(...timerProblems(`member ${node}`, timer, lostAtMs));
  }
  return [
    ...problems,
    ...sizeProblem("deadlines of members", members.deadlines, members.byNode.size),
  ];
}
