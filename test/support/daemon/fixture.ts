/** For tests of the doors: a real door on a free port, and clients that say what they mean. */
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { emptyState } from "../../../src/core/state.ts";
import { permitBy } from "../../../src/operations/access.ts";
import { LocalUsers } from "../../../src/identity/local-users.ts";
import type { Authenticator, Peer } from "../../../src/identity/caller.ts";
import { CallRate } from "../../../src/daemon/call-rate.ts";
import { HttpDoor, type HttpDoorOptions } from "../../../src/daemon/http-door.ts";
import { chainOf } from "../identity/chain.ts";

export const FREE = { host: "127.0.0.1", port: 0 };

/** Lets in every caller on this machine. */
export function anybodyHere(): Authenticator {
  const users = { userOf: async () => undefined };
  return chainOf([new LocalUsers({ trust: "any", allowed: [], users, uid: undefined })]);
}

/** As where nobody has set a policy. */
export const byRoles = permitBy({ peek: (select) => select(emptyState()) });

/** A caller on another machine. */
export const STRANGER: Peer = { address: "192.0.2.7", ends: undefined, isOwnSocket: false };

export interface OpenDoor {
  readonly door: HttpDoor;
  readonly port: number;
  readonly faults: unknown[];
}

export async function openDoor(options: Partial<HttpDoorOptions> = {}): Promise<OpenDoor> {
  const faults: unknown[] = [];
  const door = new HttpDoor({
    authenticator: anybodyHere(),
    permit: byRoles,
    allowedHosts: [],
    calls: new CallRate(0),
    onFault: (error) => faults.push(error),
    ...options,
  });
  const { port } = await door.listen(FREE);
  return { door, port, faults };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** Unlike fetch, it sends any header it is given. */
export function ask(port: number, path: string, asked: Asked = {}): Promise<Answer> {
  const { method = "GET", headers = {}, body } = asked;
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: "127.0.0.1", port, path, method, headers, agent: false },
      (response) => {
        text(response).then((answer) => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answer });
        }, reject);
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

/** A connection that says these bytes; what comes back gathers in `heard`. */
export interface Raw {
  readonly socket: Socket;
  heard: string;
  /** Resolves when the other side ends it. */
  readonly closed: Promise<void>;
}

export function say(port: number, bytes: string): Raw {
  const socket = connect({ host: "127.0.0.1", port });
  const raw: Raw = {
    socket,
    heard: "",
    closed: new Promise((resolve) => socket.on("close", () => resolve())),
  };
  socket.setEncoding("utf8").on("data", (chunk: string) => (raw.heard += chunk));
  socket.on("error", () => undefined);
  socket.write(bytes);
  return raw;
}
