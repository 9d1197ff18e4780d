/** The rules of all nouns as one: what drives the engine, and what a simulator may replace. */
import { decideCredential, evolveCredential } from "./credentials.ts";
import type { CredentialCommand, CredentialReplies } from "./credentials.ts";
import { dueAgent, evolveAgent } from "./agents.ts";
import type { AgentCommand, AgentReplies } from "./agents.ts";
import { isFirstProof, outsider } from "./acting.ts";
import { earliest } from "./heap.ts";
import type { Decision, Moment } from "./decide.ts";
import { decideDirectory } from "./directory-rules.ts";
import type { DirectoryCommand, DirectoryReplies } from "./directory-rules.ts";
import { dueEntry, evolveDirectory, expireEntry } from "./directory.ts";
import { decideDismissal } from "./dismissals.ts";
import type { DismissalCommand, DismissalReplies } from "./dismissals.ts";
import { decideElection, dueElection, evolveElection, expireElection } from "./elections.ts";
import type { ElectionCommand, ElectionReplies } from "./elections.ts";
import { RollcallError } from "./errors.ts";
import type { Event } from "./events.ts";
import { FORMATS } from "./formats.ts";
import { decideJob, expireJob } from "./job-rules.ts";
import type { JobCommand, JobReplies } from "./job-rules.ts";
import { dueJob } from "./job-deadlines.ts";
import { evolveJob } from "./jobs.ts";
import { decideLease, dueLease, evolveLease, expireLease } from "./leases.ts";
import type { LeaseCommand, LeaseReplies } from "./leases.ts";
import { decideMember, dueMember, evolveMember, expireMember } from "./members.ts";
import type { MemberCommand, MemberReplies } from "./members.ts";
import { evolveNode } from "./nodes.ts";
import { dueHostJob, evolveHostJob, expireHostJob } from "./host-jobs.ts";
import { decideOutpost, dueOutpost, evolveOutpost, expireOutpost } from "./outposts.ts";
import type { OutpostCommand, OutpostReplies } from "./outposts.ts";
import { decidePolicy, evolvePolicy } from "./policies.ts";
import type { PolicyCommand, PolicyReplies } from "./policies.ts";
import { decideAgent, expireAgent } from "./registry.ts";
import { dueQuestion, evolveQuestion, expireQuestion } from "./questions.ts";
import { decideOnce, evolveRequest } from "./requests.ts";
import { decideReport, dueReport, evolveReport, expireReport } from "./reports.ts";
import type { ReportCommand, ReportReplies } from "./reports.ts";
import { decideSession, dueSession, evolveSession, expireSession } from "./sessions.ts";
import type { SessionCommand, SessionReplies } from "./sessions.ts";
import type { State } from "./state.ts";
import { dueTask, expireTask } from "./task-expiry.ts";
import { evolveTask } from "./task-evolution.ts";
import { decideTask } from "./tasks.ts";
import type { TaskCommand, TaskReplies } from "./tasks.ts";
import { decideToken, dueToken, evolveToken, expireToken } from "./tokens.ts";
import type { TokenCommand, TokenReplies } from "./tokens.ts";

export type Command =
  | AgentCommand
  | LeaseCommand
  | ElectionCommand
  | PolicyCommand
  | TaskCommand
  | ReportCommand
  | DismissalCommand
  | OutpostCommand
  | JobCommand
  | SessionCommand
  | CredentialCommand
  | TokenCommand
  | DirectoryCommand
  | MemberCommand;

export type Replies = AgentReplies &
  LeaseReplies &
  ElectionReplies &
  PolicyReplies &
  TaskReplies &
  ReportReplies &
  DismissalReplies &
  OutpostReplies &
  JobReplies &
  SessionReplies &
  CredentialReplies &
  TokenReplies &
  DirectoryReplies &
  MemberReplies;

export type Reply = Replies[keyof Replies];

/** The reply to a command. */
export type ReplyTo<C extends Command> = Replies[C["type"]];

export interface Rules {
  /** Of the log, that this program reads (see formats.ts). */
  readonly formats: readonly [oldest: number, newest: number];
  decide(state: State, command: Command, moment: Moment): Decision<Event, Reply>;
  /** Must accept every event ever written: it also rebuilds the state from the log. */
  evolve(state: State, event: Event, atMs: number): void;
  /** When something is next due; it may turn out to be not yet. */
  due(state: State): number | undefined;
  /**
   * The events of ONE thing that is due, none when its deadline has moved. The caller evolves them
   * before it asks again: one death may change what the next one means.
   */
  expire(state: State, nowMs: number): readonly Event[];
}

export const rules: Rules = { formats: FORMATS, decide, evolve, due, expire };

function decide(state: State, command: Command, moment: Moment): Decision<Event, Reply> {
  const { type } = command;
  return decideOnce(state, { type, by: moment.by }, () => decideHere(state, command, moment));
}

function decideHere(state: State, command: Command, moment: Moment): Decision<Event, Reply> {
  const refusal = outsider(state, command, moment.by);
  if (refusal) return refusal;
  const decision = decideNoun(state, command, moment);
  return moment.by.agentKey === undefined ? decision : bound(state, command, { decision, moment });
}

/** The first call that comes with the key of its agent binds it to the key, unless it leaves. */
function bound(
  { agents }: State,
  command: Command,
  { decision, moment }: { readonly decision: Decision<Event, Reply>; readonly moment: Moment },
): Decision<Event, Reply> {
  if (command.type === "agent.deregister") return decision;
  const entry = "agentId" in command ? agents.byId.get(command.agentId) : undefined;
  if (!decision.ok || !entry || !isFirstProof(entry, moment.by)) return decision;
  const proof: Event = { type: "agent.bound", agentId: entry.agent.agentId };
  return { ...decision, events: [proof, ...decision.events] };
}

function decideNoun(state: State, command: Command, moment: Moment): Decision<Event, Reply> {
  switch (command.type) {
    case "agent.register":
    case "agent.heartbeat":
    case "agent.deregister":
      return decideAgent(state, command, moment);
    case "lease.acquire":
    case "lease.renew":
    case "lease.release":
      return decideLease(state, command, moment);
    case "election.campaign":
    case "election.resign":
      return decideElection(state, command, moment);
    case "policy.set":
    case "policy.delete":
      return decidePolicy(state, command, moment);
    case "task.create":
    case "task.cancel":
    case "task.claim":
    case "task.renew":
    case "task.complete":
    case "task.fail":
    case "task.return":
      return decideTask(state, command, moment);
    case "fleet.report":
    case "fleet.forget":
      return decideReport(state, command, moment);
    case "question.dismiss":
    case "fleet.dismiss":
      return decideDismissal(state, command, moment);
    case "outpost.join":
    case "outpost.beat":
    case "outpost.take":
    case "outpost.leave":
      return decideOutpost(state, command, moment);
    case "job.submit":
    case "job.cancel":
    case "job.end":
    case "job.revive":
    case "job.progress":
    case "job.import":
      return decideJob(state, command, moment);
    case "session.open":
    case "session.resume":
    case "session.prove":
    case "session.subscribe":
    case "session.unsubscribe":
    case "session.import":
      return decideSession(state, command, moment);
    case "credential.request":
    case "credential.issue":
    case "credential.revoke":
      return decideCredential(state, command);
    case "token.create":
    case "token.revoke":
      return decideToken(state, command, moment);
    case "directory.heartbeat":
    case "directory.confirm":
    case "directory.doubt":
    case "directory.remove":
      return decideDirectory(state, command, moment);
    case "node.join":
    case "node.leave":
    case "node.finalize":
      return decideMember(state, command, moment);
  }
}

function evolve(state: State, event: Event, atMs: number): void {
  state.lastAtMs = Math.max(state.lastAtMs, atMs);
  switch (event.type) {
    case "agent.registered":
    case "agent.bound":
    case "agent.unreachable":
    case "agent.recovered":
    case "agent.died":
    case "agent.forgotten":
      return evolveAgent(state, event);
    case "lease.acquired":
    case "lease.renewed":
    case "lease.released":
    case "lease.expired":
      return evolveLease(state, event);
    case "election.joined":
    case "election.left":
    case "leader.changed":
    case "election.forgotten":
      return evolveElection(state, event);
    case "policy.set":
    case "policy.deleted":
      return evolvePolicy(state, event);
    case "task.created":
    case "task.claimed":
    case "task.renewed":
    case "task.completed":
    case "task.requeued":
    case "task.returned":
    case "task.died":
    case "task.cancelled":
    case "task.expired":
    case "task.forgotten":
      return evolveTask(state, event);
    case "fleet.reported":
    case "fleet.forgotten":
    case "fleet.dismissed":
      return evolveReport(state, event);
    case "question.asked":
    case "question.answered":
    case "question.withdrawn":
    case "question.expired":
    case "question.dismissed":
    case "question.forgotten":
      return evolveQuestion(state, event);
    case "outpost.joined":
    case "outpost.took":
    case "outpost.silent":
    case "outpost.forgotten":
      return evolveOutpost(state, event);
    case "outpost.job_told":
    case "outpost.jobs_forgotten":
      return evolveHostJob(state, event);
    case "job.submitted":
    case "job.started":
    case "job.cancelling":
    case "job.ended":
    case "job.moved":
    case "job.imported":
    case "job.progressed":
    case "job.forgotten":
      return evolveJob(state, event);
    case "session.opened":
    case "session.resumed":
    case "session.proved":
    case "session.gone":
    case "session.subscribed":
    case "session.unsubscribed":
      return evolveSession(state, event);
    case "credential.requested":
    case "credential.issued":
    case "credential.revoked":
      return evolveCredential(state, event);
    case "token.created":
    case "token.revoked":
    case "token.forgotten":
      return evolveToken(state, event);
    case "directory.registered":
    case "directory.changed":
    case "directory.refreshed":
    case "directory.verified":
    case "directory.doubted":
    case "directory.evicted":
    case "directory.removed":
      return evolveDirectory(state, event);
    case "node.leading":
    case "node.resumed":
    case "node.resigned":
      return evolveNode(state, event);
    case "node.joined":
    case "node.left":
    case "node.finalized":
      return evolveMember(state, event);
    case "request.answered":
      return evolveRequest(state, event);
    default:
      throw unknownEvent(event);
  }
}

/** Written by a newer program: a state that skips it would differ from the one it decided on. */
function unknownEvent(event: never): RollcallError {
  const { type } = event as { readonly type: unknown };
  const message = `this program does not know events of type ${String(type)}`;
  return new RollcallError("STORAGE_TOO_NEW", message);
}

const EXPIRIES = [
  { due: (state: State) => dueAgent(state.agents), expire: expireAgent },
  { due: (state: State) => dueLease(state.leases), expire: expireLease },
  { due: (state: State) => dueTask(state.tasks), expire: expireTask },
  { due: (state: State) => dueElection(state.elections), expire: expireElection },
  { due: (state: State) => dueReport(state.reports), expire: expireReport },
  { due: (state: State) => dueQuestion(state.questions), expire: expireQuestion },
  { due: (state: State) => dueOutpost(state.outposts), expire: expireOutpost },
  { due: (state: State) => dueHostJob(state.hostJobs), expire: expireHostJob },
  { due: (state: State) => dueJob(state.jobs), expire: expireJob },
  { due: (state: State) => dueSession(state.sessions), expire: expireSession },
  { due: (state: State) => dueEntry(state.directory), expire: expireEntry },
  { due: (state: State) => dueToken(state.tokens), expire: expireToken },
  { due: (state: State) => dueMember(state.members), expire: expireMember },
];

function due(state: State): number | undefined {
  return earliest(...EXPIRIES.map((noun) => noun.due(state)));
}

/** The earliest deadline goes first, so that no noun keeps another waiting. */
function expire(state: State, nowMs: number): readonly Event[] {
  const dueMs = due(state);
  if (dueMs === undefined || dueMs > nowMs) return [];
  return EXPIRIES.find((noun) => noun.due(state) === dueMs)?.expire(state, nowMs) ?? [];
}
