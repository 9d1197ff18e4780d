/**
 * ARCP on an HTTP door: `/arcp` becomes a WebSocket once the gate has let the request in. A page
 * may only look, and a WebSocket can do more than that: what a browser opens is refused, even from
 * a page of ours.
 */
import type { IncomingMessage } from "node:http";
import { RollcallError } from "../../core/errors.ts";
import { byOf, type By } from "../../core/by.ts";
import { NOBODY } from "../../core/principals.ts";
import { ACCESS } from "../../operations/access.ts";
import { ADMITTED } from "../../wires/route.ts";
import { peerOf } from "../../identity/caller.ts";
import type { BearerTokens } from "../../identity/tokens.ts";
import { Upgrades } from "../../wires/arcp/transports/upgrades.ts";
import type { Clock } from "../../core/clock.ts";
import type { Waiting } from "../../net/waiting.ts";
import type { Mount } from "../mount.ts";
import type { DaemonArcp } from "./service.ts";

const PATH = "/arcp";

export interface ArcpMountOptions {
  readonly arcp: Pick<DaemonArcp, "accept">;
  readonly tokens: Pick<BearerTokens, "hello">;
  readonly waiting?: Waiting;
  readonly clock?: Clock;
}

export function arcpMount({ arcp, tokens, waiting, clock }: ArcpMountOptions): Mount {
  const callers = new WeakMap<IncomingMessage, By>();
  // The gate has checked Host against the names that are ours.
  const upgrades = new Upgrades({
    accept: (transport, request) => {
      const by = callers.get(request);
      const peer = peerOf(request.socket);
      arcp.accept(transport, async (token) => {
        const principal = await tokens.hello(token, { principal: by?.principal ?? NOBODY, peer });
        return byOf(principal, "arcp", by?.peer);
      });
    },
    path: PATH,
    allowedHosts: ["*"],
    waiting,
    ...(clock && { clock }),
  });
  return {
    upgrades: {
      [PATH]: {
        access: ACCESS.session,
        handle({ request, socket, head, by }) {
          callers.set(request, by);
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
