/**
 * ARCP on an HTTP door: `/arcp` becomes a WebSocket once the gate has let the request in. A page
 * may only look, and a WebSocket can do more than that: what a browser opens is refused, even from
 * a page of ours.
 */
import type { IncomingMessage } from "node:http";
import { RollcallError } from "../../core/errors.ts";
import { byOf, type By } from "../../core/by.ts";
import { NOBODY } from "../../core/principals.ts";
import { ACCESS, type Permit } from "../../operations/access.ts";
import { ADMITTED } from "../../wires/route.ts";
import { peerOf } from "../../identity/caller.ts";
import { strangerOn } from "../../identity/refused.ts";
import type { BearerTokens } from "../../identity/tokens.ts";
import { Upgrades } from "../../wires/arcp/transports/upgrades.ts";
import type { Clock } from "../../core/clock.ts";
import type { WaitingCounters } from "../../net/waiting.ts";
import type { Mount, Upgrade } from "../mount.ts";
import type { DaemonArcp } from "./service.ts";

const PATH = "/arcp";

export interface ArcpMountOptions {
  readonly arcp: Pick<DaemonArcp, "accept">;
  readonly tokens: Pick<BearerTokens, "hello">;
  readonly permit: Permit;
  /** A hello had a credential that is not good. */
  readonly onStranger: (by: By, reason: string) => void;
  readonly waiting?: WaitingCounters;
  readonly clock?: Clock;
}

export function arcpMount({ arcp, tokens, permit, ...options }: ArcpMountOptions): Mount {
  const { waiting, clock } = options;
  const upgraded = new WeakMap<IncomingMessage, Upgrade>();
  /** The caller of a session, by the token of its hello or as the door knows it. */
  const greet = async (request: IncomingMessage, token: string): Promise<By> => {
    const upgrade = upgraded.get(request);
    const { principal = NOBODY } = upgrade?.by ?? {};
    const peer = peerOf(request.socket);
    const hello = async () => tokens.hello(token, { principal, peer });
    const known = await hello().catch((error: unknown) => {
      if (error instanceof Error) options.onStranger(strangerOn("arcp", peer), error.message);
      throw error;
    });
    const by = byOf(known, "arcp", upgrade?.by.peer);
    permit(by, ACCESS.session);
    upgrade?.claim(known.name);
    return by;
  };
  // The gate has checked Host against the names that are ours.
  const upgrades = new Upgrades({
    accept: (transport, request) => arcp.accept(transport, (token) => greet(request, token)),
    path: PATH,
    allowedHosts: ["*"],
    waiting,
    ...(clock && { clock }),
  });
  return {
    upgrades: {
      [PATH]: {
        access: ACCESS.session,
        handle(upgrade) {
          const { request, socket, head } = upgrade;
          upgraded.set(request, upgrade);
          if (request.headers.origin !== undefined) {
            throw new RollcallError("PERMISSION_DENIED", "a browser may not submit jobs");
          }
          upgrades.upgrade(request, socket, head);
        },
      },
    },
    hot: {
      [PATH]: {
        access: ADMITTED,
        handle(_, response) {
          const body = JSON.stringify({ error: UPGRADE });
          response
            .writeHead(426, { Upgrade: "websocket", Connection: "Upgrade", ...JSON_TYPE })
            .end(body);
        },
      },
    },
  };
}

const JSON_TYPE = { "Content-Type": "application/json" };
const UPGRADE = { code: "WRONG_STATE", message: "/arcp is a WebSocket: see `rollcall run`" };
