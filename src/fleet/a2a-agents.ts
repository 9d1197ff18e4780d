/** The agents of the directory, as reports: they are rows like all others. */
import { readCard } from "../directory/cards/card.ts";
import { proseOf } from "../directory/cards/prose.ts";
import type { CardText, DirectoryEntry, DirectoryRecord, Tier } from "../core/directory.ts";
import { key } from "../core/fields.ts";
import { FLEET } from "../core/limits.ts";
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";
import { EVERYTHING } from "../core/visibility.ts";
import type { Source } from "./axes.ts";
import { joinedRow, OWN_ID, rowIdOf } from "./identity.ts";

interface CardIdentity {
  readonly name: string;
  /** The agent to whose row the card claims to belong. */
  readonly agentId: string | undefined;
}

const said = new WeakMap<CardText, CardIdentity>();

/** Nothing for one that was never verified: anybody can claim that there is an agent. */
export function entryReport(
  state: State,
  { entry, seenAtMs }: DirectoryRecord,
  sight = EVERYTHING,
): Source | undefined {
  const { url, owner, card, tier, intervalMs, registeredAtMs } = entry;
  if (!card) return undefined;
  const { name } = read(card);
  return {
    alias: `a2a:${url}`,
    owner,
    agentId: joinedRow(state, { named: rowNamedByEntry(entry), own: url, owner }, sight),
    links: [],
    // As recorded, like that of the registry's agents.
    order: entry.lastHeartbeatAtMs,
    reportedAtMs: seenAtMs,
    registeredAtMs,
    // It says nothing of what it does, so it has been the same since it is here.
    sinceMs: registeredAtMs,
    facts: {
      ...(name !== "" && { name }),
      liveness:
        intervalMs === 0
          ? { value: "unknown", rule: `it was added by hand, ${RULES[tier]}` }
          : { value: "alive", rule: `its heartbeats come, ${RULES[tier]}` },
    },
  };
}

/** The row that its card names: only the proven owner of the entry may name one. */
export function rowNamedByEntry({ card, tier }: DirectoryEntry): string | undefined {
  return card && tier !== "reachable" ? read(card).agentId : undefined;
}

/** The evidence for each tier. */
const RULES: Readonly<Record<Tier, string>> = {
  unverified: "its card was never fetched (unverified)",
  reachable: "its card was fetched (reachable)",
  owner: "its card is its own (owner)",
  signed: "its card is signed (signed)",
};

/** Others may know it by the URL of its card. */
export function entryRowId(state: State, report: Report, { verification }: DirectoryEntry): string {
  const byCard = `a2a:${verification?.from ?? ""}`;
  const { linked } = state.reports;
  const isKnown = linked.of(report.alias).size === 0 && linked.of(byCard).size > 0;
  return rowIdOf(state, isKnown ? { ...report, alias: byCard } : report);
}

function read(card: CardText): CardIdentity {
  const found = said.get(card);
  if (found) return found;
  const reading = readCard(card.text);
  const metadata = reading.ok ? reading.card.json.members.get("metadata") : undefined;
  const own = metadata?.kind === "object" ? metadata.members.get(OWN_ID) : undefined;
  const id = own?.kind === "string" ? own.value : undefined;
  const isFit = id !== undefined && key(OWN_ID, id, FLEET.aliasLength) === undefined;
  const made = {
    name: reading.ok ? proseOf(reading.card).name : "",
    agentId: isFit ? id : undefined,
  };
  said.set(card, made);
  return made;
}
