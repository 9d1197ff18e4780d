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
import { ACCESS } from "./access.ts";
import { TABLE } from "./table.ts";

/** The same services, with the fleet as the caller sees it. */
export function servicesFor<S extends { readonly fleet: Fleet }>(
  services: S,
  { principal }: By,
): S {
  const fleet = services.fleet.seenBy(principal);
  return fleet === services.fleet ? services : { ...services, fleet };
}

type NounOf<T> = T extends `${infer Noun}.${string}` ? Noun : never;

/** The right to watch each kind of event. A kind that is missing does not compile. */
const TOPICS: Readonly<Record<NounOf<Topic>, Access>> = {
  agent: TABLE.agents.list.access,
  lease: TABLE.leases.list.access,
  election: TABLE.elections.list.access,
  leader: TABLE.elections.list.access,
  policy: TABLE.policies.list.access,
  task: TABLE.tasks.list.access,
  fleet: TABLE.fleet.list.access,
  question: TABLE.questions.list.access,
  job: TABLE.jobs.list.access,
  session: TABLE.jobs.list.access,
  credential: TABLE.jobs.list.access,
  token: TABLE.tokens.list.access,
  directory: TABLE.directory.list.access,
  node: TABLE.daemon.status.access,
};

/** All kinds of events, by the nouns that their topics begin with. */
export const EVENT_KINDS: readonly string[] = Object.keys(TOPICS);

/** Which events a watcher is shown; nothing where it is shown all of them. */
export function shownTo(engine: Pick<Engine, "peek">, caller: Principal) {
  // No policy narrows an admin.
  if (caller.roles.includes("admin")) return undefined;
  const sight = sightOf(caller);
  const hidden = new HiddenTopics(caller);
  return (event: Event) =>
    engine.peek((state) => !hidden.by(state.policies, event) && seesEvent(sight, state, event));
}

/** The kinds of events that a caller may not read about, asked anew when a policy changed. */
class HiddenTopics {
  readonly #caller: Principal;
  #policies: Policies | undefined;
  #changes = 0;
  #hidden: ReadonlySet<string> = new Set();

  constructor(caller: Principal) {
    this.#caller = caller;
  }

  by(policies: Policies, { type }: Event): boolean {
    if (this.#policies !== policies || this.#changes !== policies.changes) this.#ask(policies);
    return this.#hidden.has(type.slice(0, type.indexOf(".")));
  }

  #ask(policies: Policies): void {
    const isHidden = (access: Access) => !judge(policies, this.#caller, access).allowed;
    const isDeaf = isHidden(ACCESS.events);
    const hidden = Object.entries(TOPICS).filter(([, access]) => isDeaf || isHidden(access));
    this.#policies = policies;
    this.#changes = policies.changes;
    this.#hidden = new Set(hidden.map(([noun]) => noun));
  }
}
