/**
 * The fleet that a command means: of the daemon; and where none runs on this machine, of its status
 * files, which is said on stderr. Decided by the first answer: a daemon that was there is waited
 * for.
 */
import { RollcallError } from "../../core/errors.ts";
import type { FleetRow } from "../../wires/api/answers.ts";
import { LOCAL_CONTEXT } from "../../net/http/contexts.ts";
import { findTarget } from "../../net/http/target.ts";
import { statusFolder } from "../../wires/files/folder.ts";
import type { Context } from "../context.ts";
import { note } from "../print.ts";
import type { DaemonFlags } from "../flags.ts";
import type { ListChanges, ListFetch } from "../listing.ts";
import { NearDaemon } from "../near-daemon.ts";
import {
  daemonFleet,
  type AgentQuery,
  type FleetQuery,
  type FleetSource,
  type ListedFleet,
} from "./source.ts";

const OF_THIS_MACHINE = /^https?:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?::|$)/;

export class NearestFleet implements FleetSource, AsyncDisposable {
  readonly #context: Context;
  /** Asked first. */
  readonly daemon: NearDaemon;
  #fleet: FleetSource;
  readonly #isHere: boolean;
  #isDecided = false;

  constructor(context: Context, flags: DaemonFlags) {
    this.#context = context;
    const target = findTarget(flags, context.env);
    this.daemon = new NearDaemon(target);
    // A context may begin at an address of this machine, and lead elsewhere by a tunnel.
    const { url, context: name = LOCAL_CONTEXT } = target;
    this.#isHere = name === LOCAL_CONTEXT && OF_THIS_MACHINE.test(url);
    this.#fleet = daemonFleet(this.daemon);
  }

  get place(): string {
    return this.#fleet.place;
  }

  list(query: FleetQuery, options: ListFetch): Promise<ListedFleet> {
    return this.#ask((fleet) => fleet.list(query, options), query.at);
  }

  find(query: AgentQuery): Promise<FleetRow> {
    return this.#ask((fleet) => fleet.find(query), query.at);
  }

  changes(options: ListChanges): AsyncIterable<unknown> {
    return this.#fleet.changes(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon[Symbol.asyncDispose]();
  }

  /** Files know nothing of the past. */
  async #ask<T>(look: (fleet: FleetSource) => Promise<T>, at: string | undefined): Promise<T> {
    try {
      const answer = await look(this.#fleet);
      this.#isDecided = true;
      return answer;
    } catch (error) {
      if (this.#isDecided || !this.#isHere || at !== undefined || !isNobodyThere(error))
        throw error;
    }
    const { FilesFleet } = await import("./files.ts");
    const files = new FilesFleet(statusFolder(this.#context.env));
    const answer = await look(files);
    const why = `no daemon at ${this.daemon.url}`;
    await note(this.#context, `${why}: this is from the status files in ${files.place}`);
    for (const warning of files.warnings()) await this.#context.err.line(warning);
    this.#fleet = files;
    this.#isDecided = true;
    return answer;
  }
}

/** Whether an error says that there is no daemon, rather than what one answers. */
function isNobodyThere(error: unknown): boolean {
  return (
    error instanceof RollcallError &&
    error.code === "UNAVAILABLE" &&
    error.message.startsWith("no daemon")
  );
}
