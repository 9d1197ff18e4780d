/** Where commands look at the fleet: at a daemon, or at the status files of this machine. */
import type { Row } from "../../fleet/row.ts";
import type { FleetList, FleetRow } from "../../wires/api/answers.ts";
import type { Client } from "../../wires/api/client/client.ts";
import { itemPath, pathOf, read } from "../daemon.ts";
import {
  fetchPages,
  type ChangesOptions,
  type FetchOptions,
  type Listed,
  type ListSource,
} from "../listing.ts";

export interface FleetQuery {
  /** With those that are gone for long. */
  readonly isWhole: boolean;
  /** Only those that wait for a person. */
  readonly needsMe: boolean;
  /** As of a moment of the past. */
  readonly atMs?: number | undefined;
}

export type ListedFleet = Listed<Row, FleetList>;

export interface FleetSource extends Pick<ListSource<Row, FleetList>, "place" | "changes"> {
  list(query: FleetQuery, options: FetchOptions): Promise<ListedFleet>;
  /** The agent that a person means by a name, an id, an alias, or how its id begins. */
  find(given: string, atMs?: number): Promise<FleetRow>;
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

  list({ isWhole, needsMe, atMs }: FleetQuery, options: FetchOptions): Promise<ListedFleet> {
    const params = {
      all: isWhole ? "true" : undefined,
      needs: needsMe ? "me" : undefined,
      at: atMs === undefined ? undefined : String(atMs),
    };
    return fetchPages(this.#daemon, { path: "/v1/fleet", field: "rows", params }, options);
  }

  find(given: string, atMs?: number): Promise<FleetRow> {
    return read(this.#daemon, pathOf(itemPath("/v1/fleet", given), { at: atMs }));
  }

  changes(options: ChangesOptions): AsyncIterable<unknown> {
    return this.#daemon.events({ topics: TOPICS, ...options });
  }
}
