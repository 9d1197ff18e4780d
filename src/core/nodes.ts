/**
 * Which node may append. Leadership is an event in the log like any other: the node that appends
 * `node.leading` at the head it knows leads from there on, and every other node's next append is
 * fenced.
 *
 * Both events here are also a grace: time may have gone by in which nobody could send a heartbeat
 * or renew anything, so every live deadline starts over with one full ttl from that moment.
 */
import { raiseFloor } from "./fencing.ts";
import type { State } from "./state.ts";

export type NodeEvent =
  | {
      readonly type: "node.leading";
      readonly node: string;
      readonly epoch: number;
      /** Where events may have been lost: tokens and terms go on above it (see fencing.ts). */
      readonly floor?: number;
    }
  /** The leader was suspended, or its clock stepped: time went by that nobody could use. */
  | { readonly type: "node.resumed"; readonly node: string; readonly unseenMs: number };

export interface Leadership {
  /** Empty before anybody led. */
  readonly node: string;
  readonly epoch: number;
}

export function leading(state: State, node: string, floor = 0): NodeEvent {
  const epoch = state.leadership.epoch + 1;
  const isLoss = floor > state.fencing.floor;
  return { type: "node.leading", node, epoch, ...(isLoss && { floor }) };
}

export function evolveNode(state: State, event: NodeEvent): void {
  state.graceFromMs = state.lastAtMs;
  if (event.type === "node.leading") {
    state.leadership = { node: event.node, epoch: event.epoch };
    if (event.floor !== undefined) raiseFloor(state, event.floor);
  }
}
