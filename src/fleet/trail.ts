/**
 * Which events are about an agent. It has several names, and gets more on the way: a report or a
 * card says whose it is, a report says which other aliases are the same agent's. A log may hold a
 * million events, so most are told from its bare text, and only the others are looked at.
 */
import type { Event } from "../core/events.ts";
import { agentOfRow, agentRowId } from "../core/agent-jobs.ts";
import { mayJoin, OWN_ID } from "./identity.ts";
import type { Row } from "./row.ts";

const KEEPER = "keeper:";
const A2A = "a2a:";

export class Trail {
  readonly #id: string;
  readonly #holder: string | undefined;
  readonly #aliases = new Set<string>();
  /** As they stand in the text of an event. */
  readonly #texts = new Set<string>();
  /** How these end, the same for the names of one: nearly every text is told by this alone. */
  readonly #ends = new Set<string>();

  /** `holder`: the owner of the reports on its agent, if it has one. */
  constructor({ id, aliases }: Pick<Row, "id" | "aliases">, holder?: string) {
    this.#id = id;
    this.#holder = holder;
    this.#seek(id, id);
    this.#seekJobs(agentOfRow(id));
    for (const alias of aliases) this.#learn(alias);
  }

  /** Whether an event of this text may be; often wrong, never when it says no. */
  mayHold(text: string): boolean {
    return includesSome(text, this.#ends) && includesSome(text, this.#texts);
  }

  holds(event: Event): boolean {
    switch (event.type) {
      case "agent.registered":
        if (event.agent.card.metadata[OWN_ID] === this.#id && mayJoin(this.#holder, event.agent)) {
          this.#learn(KEEPER + event.agent.agentId);
        }
        return this.#isKeeper(event.agent.agentId);
      case "agent.unreachable":
      case "agent.recovered":
      case "agent.died":
        return this.#isKeeper(event.agent.agentId);
      case "lease.acquired":
      case "lease.expired":
      case "lease.released":
        return this.#isKeeper(event.lease.holder);
      case "leader.changed":
        return this.#isKeeper(event.election.leader);
      case "task.claimed":
        return this.#isKeeper(event.claim.agentId);
      case "agent.bound":
      case "agent.forgotten":
      case "election.joined":
      case "election.left":
      case "task.completed":
      case "task.requeued":
      case "task.returned":
      case "task.died":
      case "task.cancelled":
        return this.#isKeeper(event.agentId);
      case "fleet.reported": {
        const { alias, agentId, links } = event.report;
        if (agentId === this.#id) this.#learn(alias);
        const isIts = this.#aliases.has(alias);
        if (isIts) for (const link of links) this.#learn(link);
        return isIts;
      }
      case "fleet.forgotten":
      case "fleet.dismissed":
        return this.#aliases.has(event.alias);
      case "question.asked":
      case "question.answered":
      case "question.withdrawn":
      case "question.expired":
      case "question.dismissed":
        return this.#aliases.has(event.question.alias);
      case "job.submitted":
      case "job.started":
      case "job.cancelling":
      case "job.moved":
      case "job.ended":
        return this.#id === event.job.id || this.#id === agentRowId(event.job);
      case "job.progressed":
        return this.#id === event.jobId;
      case "directory.registered":
      case "directory.changed":
      case "directory.verified":
      case "directory.doubted":
        return this.#aliases.has(A2A + event.entry.url);
      case "directory.evicted":
      case "directory.removed":
        return this.#aliases.has(A2A + event.url);
      // Renewals, and events about no agent.
      case "lease.renewed":
      case "task.renewed":
      case "directory.refreshed":
      case "task.created":
      case "task.expired":
      case "task.forgotten":
      case "question.forgotten":
      case "election.forgotten":
      case "policy.set":
      case "policy.deleted":
      case "job.forgotten":
      case "job.imported":
      case "session.opened":
      case "session.resumed":
      case "session.proved":
      case "session.gone":
      case "session.subscribed":
      case "session.unsubscribed":
      case "credential.requested":
      case "credential.issued":
      case "credential.revoked":
      case "outpost.joined":
      case "outpost.took":
      case "outpost.silent":
      case "outpost.forgotten":
      case "outpost.job_told":
      case "outpost.jobs_forgotten":
      case "token.created":
      case "token.revoked":
      case "token.forgotten":
      case "node.leading":
      case "node.resumed":
      case "node.resigned":
      case "node.joined":
      case "node.left":
      case "node.finalized":
      case "request.answered":
        return false;
    }
  }

  #learn(alias: string): void {
    if (this.#aliases.has(alias)) return;
    this.#aliases.add(alias);
    const prefix = [KEEPER, A2A].find((each) => alias.startsWith(each)) ?? "";
    const name = alias.slice(prefix.length);
    this.#seek(alias, name);
    this.#seek(name, name);
  }

  /** One of its names, and how that ends. */
  #seek(name: string, end: string): void {
    this.#texts.add(JSON.stringify(name));
    this.#ends.add(JSON.stringify(end).slice(1));
  }

  /** A job names its agent, alone or with a version, and not the row. */
  #seekJobs(agent: string | undefined): void {
    if (agent === undefined) return;
    const name = JSON.stringify(agent);
    for (const text of [name, `${name.slice(0, -1)}@`]) {
      this.#texts.add(text);
      this.#ends.add(text);
    }
  }

  #isKeeper(agentId: string): boolean {
    return this.#aliases.has(KEEPER + agentId);
  }
}

function includesSome(text: string, all: Iterable<string>): boolean {
  for (const each of all) if (text.includes(each)) return true;
  return false;
}
