/** All that the engine knows, one part per noun. Only evolve changes it. */
import { Agents } from "./agents.ts";
import { Credentials } from "./credentials.ts";
import { Directory } from "./directory.ts";
import { Elections } from "./elections.ts";
import type { Fencing } from "./fencing.ts";
import { FORMATS } from "./formats.ts";
import { HostJobs } from "./host-jobs.ts";
import { Jobs } from "./jobs.ts";
import { Leases } from "./leases.ts";
import { Members } from "./members.ts";
import type { Leadership } from "./nodes.ts";
import { Outposts } from "./outposts.ts";
import { Policies } from "./policies.ts";
import { Questions } from "./questions.ts";
import { Reports } from "./reports.ts";
import { AnsweredRequests } from "./requests.ts";
import { Sessions } from "./sessions.ts";
import { Tasks } from "./tasks.ts";
import { Tokens } from "./tokens.ts";

export interface State {
  readonly agents: Agents;
  readonly leases: Leases;
  readonly elections: Elections;
  readonly policies: Policies;
  readonly tasks: Tasks;
  readonly reports: Reports;
  readonly questions: Questions;
  readonly outposts: Outposts;
  readonly hostJobs: HostJobs;
  readonly jobs: Jobs;
  readonly sessions: Sessions;
  readonly credentials: Credentials;
  readonly tokens: Tokens;
  readonly directory: Directory;
  readonly members: Members;
  readonly requests: AnsweredRequests;
  /** One counter for leases and claims: tokens grow over all grants of all things. */
  readonly fencing: Fencing;
  /** Of what the log may say (see formats.ts). */
  format: number;
  leadership: Leadership;
  /** No deadline falls before this moment plus one full ttl (see nodes.ts). */
  graceFromMs: number;
  /** When the last event happened. */
  lastAtMs: number;
}

export function emptyState(): State {
  return {
    agents: new Agents(),
    leases: new Leases(),
    elections: new Elections(),
    policies: new Policies(),
    tasks: new Tasks(),
    reports: new Reports(),
    questions: new Questions(),
    outposts: new Outposts(),
    hostJobs: new HostJobs(),
    jobs: new Jobs(),
    sessions: new Sessions(),
    credentials: new Credentials(),
    tokens: new Tokens(),
    directory: new Directory(),
    members: new Members(),
    requests: new AnsweredRequests(),
    fencing: { lastToken: 0, floor: 0 },
    format: FORMATS[0],
    leadership: { node: "", epoch: 0 },
    graceFromMs: 0,
    lastAtMs: 0,
  };
}
