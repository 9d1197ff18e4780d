/**
 * Visibility for the reads and watches of every wire, asked in one place. The rule is core's
 * (core/visibility.ts); here it is applied.
 */
import { judge, type Access } from "../core/access.ts";
import type { By } from "../core/by.ts";
import type { Event, Topic } from "../core/events.ts";
import type { Policies } from "../core/policies.ts";
import type { Principal } from "../core/principals.ts";
import { seesEvent, sightOf } from "../core/visibility.ts";
import type { Engine } from "../engine/engine.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { ACCESS, onPolicyChange } from "./access.ts";

/** The same services, with the fleet as the caller sees it. */
export function servicesFor<S extends { readonly fleet: Fleet }>(
  services: S,
  { principal }: By,
): S {
  const fleet = services.fleet.seenBy(principal);
  return fleet === services.fleet ? services : { ...services, fleet };
}

type NounOf<T> = T extends `${infer Noun}.${string}` ? Noun : never;

const ELECTIONS: Access = { action: "election.read", resource: "group:*" };
const JOBS: Access = { action: "job.read", resource: "job:*" };

/**
 * The right to watch each kind of event: that to list what it is about. A kind that is missing does
 * not compile. Not taken from the table, whose operations ask here which events they may show.
 */
export const TOPICS: Readonly<Record<NounOf<Topic>, Access>> = {
  agent: { action: "agent.read", resource: "agent:*" },
  lease: { action: "lease.read", resource: "lease:*" },
  election: ELECTIONS,
  leader: ELECTIONS,
  policy: { action: "policy.read", resource: "policy:*" },
  task: { action: "task.read", resource: "task:*" },
  fleet: { action: "fleet.read", resource: "agent:*" },
  question: { action: "question.read", resource: "question:*" },
  outpost: { action: "outpost.read", resource: "outpost:*" },
  job: JOBS,
  session: JOBS,
  credential: JOBS,
  token: { action: "token.read", resource: "token:*" },
  directory: { action: "directory.read", resource: "directory:*" },
  node: { action: "daemon.read", resource: "daemon:status" },
  request: { action: "audit.read", resource: "audit:*" },
};

/** All kinds of events, by the nouns that their topics begin with. */
export const EVENT_KINDS: readonly string[] = Object.keys(TOPICS);

/** Which events a watcher is shown, as the policies are then; nothing where it is shown all. */
export function shownTo(engine: Pick<Engine, "peek">, caller: Principal) {
  // No policy narrows an admin.
  if (caller.roles.includes("admin")) return undefined;
  const sight = sightOf(caller);
  let hidden = engine.peek(({ policies }) => hiddenFrom(caller, policies));
  const lookAgain = onPolicyChange(engine, (policies) => (hidden = hiddenFrom(caller, policies)));
  return (event: Event): boolean => {
    lookAgain();
    const noun = event.type.slice(0, event.type.indexOf("."));
    return !hidden.has(noun) && engine.peek((state) => seesEvent(sight, state, event));
  };
}

/** The kinds of events that a caller may not read about. */
function hiddenFrom(caller: Principal, policies: Policies): ReadonlySet<string> {
  const isHidden = (access: Access) => !judge(policies, caller, access).allowed;
  const isDeaf = isHidden(ACCESS.events);
  const hidden = Object.entries(TOPICS).filter(([, access]) => isDeaf || isHidden(access));
  return new Set(hidden.map(([noun]) => noun));
}

/** Whether a caller may list the things that events of this kind are about. */
export function mayList(
  engine: Pick<Engine, "peek">,
  caller: Principal,
  kind: NounOf<Topic>,
): boolean {
  return engine.peek(({ policies }) => judge(policies, caller, TOPICS[kind]).allowed);
}

/** Whether a caller that was let in still may; nothing where no policy can change that. */
export function mayStill(engine: Pick<Engine, "peek">, caller: Principal, access: Access) {
  if (caller.roles.includes("admin")) return undefined;
  let allowed = true;
  const lookAgain = onPolicyChange(engine, (policies) => {
    ({ allowed } = judge(policies, caller, access));
  });
  return (): boolean => {
    lookAgain();
    return allowed;
  };
}
