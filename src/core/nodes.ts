/**
 * Which node may append. Leadership is an event in the log like any other: the node that appends
 * `node.leading` at the head it knows leads from there on, and every other node's next append is
 * fenced.
 *
 * A leader that closes resigns with its last append, so that the others need not wait until its
 * silence tells them.
 *
 * All events here are also a grace: time may have gone by in which nobody could send a heartbeat or
 * renew anything, so every live deadline starts over with one full ttl from that moment.
 */
import { raiseFloor } from "./fencing.ts";
import { raiseFormat } from "./formats.ts";
import type { State } from "./state.ts";

export type NodeEvent =
  | {
      readonly type: "node.leading";
      readonly node: string;
      readonly epoch: number;
      /** Where events may have been lost: tokens and terms go on above it (see fencing.ts). */
      readonly floor?: number;
      /** Of a log that begins with it, where members share it (see formats.ts). */
      readonly format?: number;
    }
  /**
   * The leader was suspended, or its clock stepped: time went by that nobody could use. Where nodes
   * share a log every term begins with it: deadlines count from the moment the new leader listens.
   */
  | { readonly type: "node.resumed"; readonly node: string; readonly unseenMs: number }
  /** It closes, and has written all that it decided: another node may lead at once. */
  | { readonly type: "node.resigned"; readonly node: string; readonly epoch: number };

export interface Leadership {
  /** Empty before anybody led, and after a leader resigned. */
  readonly node: string;
  readonly epoch: number;
}

interface Claiming {
  /** Above which tokens and terms go on. */
  readonly floor?: number;
  /** Where members share the log, and this is its first event: that it begins with. */
  readonly format?: number;
}

export function leading(
  state: State,
  node: string,
  { floor = 0, format }: Claiming = {},
): NodeEvent {
  const epoch = state.leadership.epoch + 1;
  const isLoss = floor > state.fencing.floor;
  return {
    type: "node.leading",
    node,
    epoch,
    ...(isLoss && { floor }),
    ...(format !== undefined && { format }),
  };
}

export function resigned({ leadership: { epoch } }: State, node: string): NodeEvent {
  return { type: "node.resigned", node, epoch };
}

export function evolveNode(state: State, event: NodeEvent): void {
  state.graceFromMs = state.lastAtMs;
  switch (event.type) {
    case "node.leading":
      state.leadership = { node: event.node, epoch: event.epoch };
      if (event.floor !== undefined) raiseFloor(state, event.floor);
      if (event.format !== undefined) raiseFormat(state, event.format);
      return;
    case "node.resigned":
      state.leadership = { node: "", epoch: event.epoch };
      return;
    case "node.resumed":
      return;
  }
}
