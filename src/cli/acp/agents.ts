/** The agents behind proxies on this machine, from their status files. */
import { derive } from "../../wires/files/derive.ts";
import { readMeta } from "../../wires/files/meta.ts";
import { readStatusDir } from "../../wires/files/read.ts";

export interface ProxiedAgent {
  readonly id: string;
  readonly name: string;
  readonly version: string | null;
  readonly client: string | null;
  readonly pid: number | null;
  readonly workspace: string | null;
  readonly goal: string | null;
  readonly state: string;
  readonly status: string;
  readonly message: string | null;
  readonly currentTask: string | null;
  readonly since: string | null;
  readonly isSilent: boolean;
  /** Too long for the proxy to read, or missed: what it says may lack them. */
  readonly unreadFrames: number;
}

export function proxiedAgents(folder: string, nowMs: number): readonly ProxiedAgent[] {
  return readStatusDir(folder, { nowMs }).flatMap((reading) => {
    if (reading.kind !== "status") return [];
    const { status } = reading;
    const { acp } = readMeta(status);
    if (!acp) return [];
    const said = (name: string) => {
      const value = acp[name];
      return typeof value === "string" ? value : null;
    };
    const unread = acp["unread_frames"];
    return {
      id: status.agent_id,
      name: status.agent_name,
      version: said("agent_version"),
      client: said("client"),
      pid: status.runtime.pid ?? null,
      workspace: status.runtime.workspace ?? null,
      goal: status.goal?.summary ?? null,
      state: said("state") ?? "unknown",
      status: said("status") ?? "idle",
      message: said("message"),
      currentTask: said("current_task"),
      since: said("since"),
      isSilent: derive(status, { nowMs }) === "stale",
      unreadFrames: typeof unread === "number" ? unread : 0,
    };
  });
}
