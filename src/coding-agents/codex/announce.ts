/**
 * A session that another one's sidecar has heard of before any hook did: Codex runs the first hook
 * of a session with its first prompt. It gets its fact and its sidecar like any other.
 */
import { existsSync } from "node:fs";
import { attend } from "../hooks/attendance.ts";
import { deposit, factId } from "../hooks/deposit.ts";
import type { Seat } from "../hooks/fact.ts";
import { recordOf } from "../hooks/record.ts";
import type { HookSession } from "../hooks/session.ts";

export interface Announcement {
  readonly sessionId: string;
  readonly workspace: unknown;
  readonly seat: Seat;
  /** One of the same app-server, as far as it is known. */
  readonly beside: Pick<HookSession, "host" | "process">;
  readonly atMs: number;
}

export function announce({ sessionId, workspace, seat, beside, atMs }: Announcement): void {
  const { host } = beside;
  const { folder, spool } = recordOf({ host, sessionId });
  if (existsSync(folder)) return;
  const order = Number(process.hrtime.bigint() / 1000n) - Math.round((Date.now() - atMs) * 1000);
  const when = { order, atMs, isShared: true, ...(beside.process && { process: beside.process }) };
  const place = typeof workspace === "string" && workspace.startsWith("/") ? { workspace } : {};
  deposit(folder, { ...when, id: factId(order), event: "SessionStart", ...place });
  deposit(folder, { ...when, id: `${factId(order)}-seat`, event: "Seated", seat });
  // At once, so that no row is missing until its sidecar runs.
  spool.settle();
  attend({ folder, host, sessionId });
}
