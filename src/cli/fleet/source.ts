/** Where commands look at the fleet: at a daemon, or at the status files of this machine. */
import type { Row } from "../../fleet/row.ts";
import type { InputOf } from "../../operations/table.ts";
import type { FleetList, FleetRow } from "../../wires/api/answers.ts";
import type { Client } from "../../wires/api/client/client.ts";
import { lookUp } from "../api.ts";
import { fetchPages, type ListFetch, type ListedPage, type ListSource } from "../listing.ts";

export type FleetQuery = Pick<InputOf<"fleet.list">, "all" | "needs" | "at">;

export type AgentQuery = InputOf<"fleet.get">;

export type ListedFleet = ListedPage<Row, FleetList>;

export interface FleetSource extends Pick<ListSource<Row, FleetList>, "place" | "changes"> {
  list(query: FleetQuery, options: ListFetch): Promise<ListedFleet>;
  /** The agent that a person means by a name, an id, an alias, or how its id begins. */
  find(query: AgentQuery): Promise<FleetRow>;
}

/** Beginnings of the topics that may change a row. */
const TOPICS = [
  "agent.",
  "directory.",
  "fleet.",
  "job.",
  "lease.",
  "outpost.",
  "question.",
  "task.",
];

export function daemonFleet(daemon: Pick<Client, "url" | "get" | "events">): FleetSource {
  return {
    place: daemon.url,
    list: (query, options) =>
      fetchPages(daemon, { operation: "fleet.list", input: { ...query } }, options),
    find: (input) => lookUp(daemon, "fleet.get", { input }),
    changes: (options) => daemon.events({ topics: TOPICS, ...options }),
  };
}
