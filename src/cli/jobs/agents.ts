/** Agents that take jobs: which there are, and which one a person means. */
import type { AgentListing } from "../../core/jobs/agent-ref.ts";
import { RollcallError } from "../../core/errors.ts";
import { meant } from "../../core/meant.ts";
import type { Row } from "../../fleet/row.ts";
import type { InputOf } from "../../operations/table.ts";
import type { Client } from "../../wires/api/client/client.ts";
import { lookUp } from "../api.ts";
import type { Context } from "../context.ts";
import { lookOf, note, printJson } from "../print.ts";
import { fetchPages } from "../listing.ts";
import { tableLines } from "../terminal/table.ts";

const NONE =
  "no agent takes jobs here: [agents.NAME] in the daemon's config file adds one (docs/jobs.md)";

/** NAME or NAME@VERSION, with the name whole; a name may be given by a part that no other has. */
export function jobAgent(agents: readonly AgentListing[], given: string): string {
  const [word = "", ...version] = given.split("@");
  if (agents.length === 0) throw new RollcallError("NOT_FOUND", NONE);
  const found = meant(agents, namesOf, { word, noun: "agent", place: " that takes jobs" });
  if (found.ok) return [found.item.name, ...version].join("@");
  const isGuessed = found.code !== "NOT_FOUND" || found.reason.includes("did you mean");
  const there = isGuessed ? "" : `; there are ${agents.map(({ name }) => name).join(", ")}`;
  throw new RollcallError(found.code, found.reason + there);
}

function namesOf({ name }: AgentListing) {
  return { id: name, name, isHere: true };
}

/**
 * The same for the jobs of a daemon: one that has jobs under this very name may be gone by now;
 * else it is one of those that are here.
 */
export async function agentOfJobs(
  daemon: Pick<Client, "get">,
  given: string,
  at: InputOf<"jobs.list">["at"],
): Promise<string> {
  const { total } = await lookUp(daemon, "jobs.list", { input: { agent: given, limit: 1, at } });
  if (total > 0) return given;
  const query = { operation: "fleet.list", input: { all: true, at } } as const;
  const { items } = await fetchPages<Row, object>(daemon, query, { limit: Infinity });
  const names = new Set(items.filter(takesJobs).map(({ name }) => name));
  return jobAgent(
    Array.from(names, (name) => ({ name, versions: [] })),
    given,
  );
}

function takesJobs({ jobs, aliases }: Row): boolean {
  return jobs !== null || aliases.some((alias) => alias.startsWith("arcp@"));
}

export async function listJobAgents(
  context: Context,
  agents: readonly AgentListing[],
  isJson: boolean,
): Promise<void> {
  if (isJson) return printJson(context, { agents });
  if (agents.length === 0) return note(context, NONE);
  const rows = agents.map(({ name, versions, default: usual = "" }) => {
    return [name, usual, versions.filter((each) => each !== usual).join(", ")];
  });
  const columns = [{ title: "AGENT" }, { title: "VERSION" }, { title: "OTHERS" }];
  for (const line of tableLines(columns, rows, lookOf(context))) await context.out.line(line);
}
