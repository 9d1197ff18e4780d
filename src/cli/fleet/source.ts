/**
 * Where commands look at the fleet: at a daemon; and where none runs on this machine, at its status
 * files, which is said on stderr. Decided once: a daemon that was there is waited for.
 */
import type { Client } from "../../wires/api/client/client.ts";
import type { EventsOptions, StreamItem } from "../../wires/api/client/events.ts";
import { statusFolder } from "../../wires/files/folder.ts";
import type { Context } from "../context.ts";
import { daemonOf, note } from "../daemon.ts";
import type { DaemonFlags } from "../flags.ts";
import { FilesFleet, isNobodyThere } from "./files.ts";

export type Reader = Pick<Client, "url" | "get" | "events">;

const OF_THIS_MACHINE = /^https?:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?::|$)/;

export class FleetSource implements Reader, AsyncDisposable {
  readonly #context: Context;
  readonly #daemon: Client;
  #files: FilesFleet | undefined;
  #isDecided = false;

  constructor(context: Context, flags: DaemonFlags) {
    this.#context = context;
    this.#daemon = daemonOf(context, flags);
  }

  get url(): string {
    return this.#files?.url ?? this.#daemon.url;
  }

  async get(
    path: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const known = this.#files?.get(path);
    if (known) return known;
    try {
      const answer = await this.#daemon.get(path, options);
      this.#isDecided = true;
      return answer;
    } catch (error) {
      const mayBeFiles = !this.#isDecided && OF_THIS_MACHINE.test(this.#daemon.url);
      if (!mayBeFiles || !isNobodyThere(error)) throw error;
      const files = new FilesFleet(statusFolder(this.#context.env));
      const answer = files.get(path);
      if (!answer) throw error;
      this.#isDecided = true;
      this.#files = files;
      const why = `no daemon at ${this.#daemon.url}`;
      await note(this.#context, `${why}: this is from the status files in ${files.url}`);
      for (const warning of files.warnings()) await this.#context.err.line(warning);
      return answer;
    }
  }

  events(options: EventsOptions): AsyncGenerator<StreamItem> {
    return this.#files ? this.#files.events(options) : this.#daemon.events(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#daemon.close();
  }
}
