/**
 * What a caller is shown: of every wire's reads and watches, asked in one place. The rule is core's
 * (core/visibility.ts); here is what it is applied to.
 */
import { judge, type Access } from "../core/access.ts";
import type { By } from "../core/by.ts";
import type { Event, Topic } from "../core/events.ts";
import type { Principal } from "../core/principals.ts";
import { EVERYTHING, seesEvent, sightOf } from "../core/visibility.ts";
import type { Engine } from "../engine/engine.ts";
import type { Fleet } from "../fleet/fleet.ts";
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

/** What a watcher of each kind of event needs. A kind that is not here does not compile. */
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
  const hidden = hiddenTopics(engine, caller);
  const sight = sightOf(caller);
  if (hidden.size === 0 && sight === EVERYTHING) return undefined;
  return (event: Event) =>
    !hidden.has(event.type.slice(0, event.type.indexOf("."))) &&
    engine.peek((state) => seesEvent(sight, state, event));
}

/** The kinds of events that the caller may not read about. */
function hiddenTopics(engine: Pick<Engine, "peek">, caller: Principal): ReadonlySet<string> {
  return engine.peek(({ policies }) => {
    const isHidden = (access: Access) => !judge(policies, caller, access).allowed;
    const hidden = Object.entries(TOPICS).filter(([, access]) => isHidden(access));
    return new Set(hidden.map(([noun]) => noun));
  });
}
