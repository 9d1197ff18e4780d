/** Where commands look at the fleet: at a daemon, or at the status files of this machine. */
import type { Row } from "../../fleet/row.ts";
import type { InputOf } from "../../operations/table.ts";
import type { FleetList, FleetRow } from "../../wires/api/answers.ts";
import type { Client } from "../../wires/api/client/client.ts";
import { look } from "../api.ts";
import {
  fetchPages,
  type ChangesOptions,
  type FetchOptions,
  type ListedPage,
  type ListSource,
} from "../listing.ts";

export type FleetQuery = Pick<InputOf<"fleet.list">, "all" | "needs" | "at">;

export type AgentQuery = InputOf<"fleet.get">;

export type ListedFleet = ListedPage<Row, FleetList>;

export interface FleetSource extends Pick<ListSource<Row, FleetList>, "place" | "changes"> {
  list(query: FleetQuery, options: FetchOptions): Promise<ListedFleet>;
  /** The agent that a person means by a name, an id, an alias, or how its id begins. */
  find(query: AgentQuery): Promise<FleetRow>;
}

/** Beginnings of the topics that may change a row. */
const TOPICS = ["agent.", "fleet.", "job.", "lease.", "question.", "task."];

export class DaemonFleet implements FleetSource {
  readonly #daemon: Client;

  constructor(daemon: Client) {
    this.#daemon = daemon;
  }

  get place(): string {
    return this.#daemon.url;
  }

  list(query: FleetQuery, options: FetchOptions): Promise<ListedFleet> {
    return fetchPages(this.#daemon, { operation: "fleet.list", input: { ...query } }, options);
  }

  find(input: AgentQuery): Promise<FleetRow> {
    return look(this.#daemon, "fleet.get", { input });
  }

  changes(options: ChangesOptions): AsyncIterable<unknown> {
    return this.#daemon.events({ topics: TOPICS, ...options });
  }
}
