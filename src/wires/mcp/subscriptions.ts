/**
 * Subscribers to resources. Clients of 2025 subscribe to one resource at a time, and are told of no
 * other; later ones listen to a stream, which the SDK sorts out itself. All are told of what they
 * may read, and of the fleet that they see.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type McpServer,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import type { By } from "../../core/by.ts";
import { mayDo, type Ground } from "./caller.ts";
import type { ResourceChanges } from "./changes.ts";
import { forModel } from "./data.ts";
import { MCP } from "./limits.ts";
import { accessOf, AGENTS_URI, isWatchable } from "./resources.ts";

export interface SubscriptionOptions {
  readonly changes: ResourceChanges;
  /** With the fleet as the subscriber sees it. */
  readonly ground: Ground;
  readonly by: By;
  readonly connection?: { readonly era: "legacy" | "modern" };
}

type SubscriptionListener = (event: ServerEvent) => void;

/** Listens to the changes that this caller may know of. */
function subscribe(
  { changes, ground, by }: SubscriptionOptions,
  listener: SubscriptionListener,
): () => void {
  return changes.subscribe(ground.fleet, (event) => {
    const uri = event.kind === "resource_updated" ? event.uri : AGENTS_URI;
    if (mayDo(ground, by, accessOf(uri))) listener(event);
  });
}

/** For a stream of `subscriptions/listen`. */
export function busFor(options: SubscriptionOptions): ServerEventBus {
  return {
    subscribe: (listener) => subscribe(options, listener),
    publish: () => undefined,
  };
}

type ResourceNotifier = Pick<
  McpServer["server"],
  "setRequestHandler" | "sendResourceUpdated" | "sendResourceListChanged"
>;

/** Serves the subscriptions of a connection; returns how to end them. */
export function serveSubscriptions(
  server: ResourceNotifier,
  options: SubscriptionOptions,
): () => void {
  const { connection, ground, by } = options;
  if (connection?.era === "modern") {
    return subscribe(options, (event) => void tell(server, event));
  }
  const wanted = new Set<string>();
  let leave: (() => void) | undefined;
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    if (!isWatchable(uri)) {
      const message = `no resource ${forModel(uri)} to subscribe to; see resources/list`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    if (wanted.size >= MCP.subscriptions && !wanted.has(uri)) {
      const message = `there are already ${MCP.subscriptions} subscriptions`;
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
    }
    ground.permit(by, accessOf(uri));
    wanted.add(uri);
    leave ??= subscribe(options, (event) => void tell(server, event, wanted));
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    wanted.delete(uri);
    return {};
  });
  return () => leave?.();
}

async function tell(
  server: ResourceNotifier,
  event: ServerEvent,
  wanted?: Set<string>,
): Promise<void> {
  try {
    switch (event.kind) {
      case "resource_updated":
        for (const uri of wanted ? meantOf(event.uri, wanted) : [event.uri]) {
          await server.sendResourceUpdated({ uri });
        }
        return;
      case "resources_list_changed":
        await server.sendResourceListChanged();
        return;
      case "tools_list_changed":
      case "prompts_list_changed":
        return;
    }
  } catch {
    // The client is gone, and so will be its connection.
  }
}

/** A change of all agents may be one of each of them. */
function meantOf(uri: string, wanted: ReadonlySet<string>): readonly string[] {
  return [...wanted].filter((each) => each === uri || each.startsWith(`${uri}/`));
}
