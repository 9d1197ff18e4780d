/**
 * In which terminal a thread is. All terminals share one app-server, which runs the hooks, so the
 * process and the pane of a hook are those of whoever started it first. But each terminal serves
 * tools of its own to the threads that it begins, at a port of loopback, and the app-server tells
 * at which: the process that listens there is the terminal's.
 */
import { listenerOf } from "../../machine/listeners.ts";
import { environmentOf, findProcess } from "../../machine/processes.ts";
import { tmuxPane } from "../../machine/surroundings.ts";
import type { Seat } from "../hooks/fact.ts";
import { field } from "../../core/text.ts";

/** The name under which a terminal offers its tools. */
export const TERMINAL_TOOLS = "codex_tui";

/** From the answer to `mcpServerStatus/list`. */
export function seatOf(listed: unknown): Seat | undefined {
  const servers = field(listed, "data");
  if (!Array.isArray(servers)) return undefined;
  const own: unknown = servers.find((server) => field(server, "name") === TERMINAL_TOOLS);
  const origin = field(own, "httpOrigin");
  const port = typeof origin === "string" && URL.canParse(origin) ? new URL(origin).port : "";
  const pid = port === "" ? undefined : listenerOf(Number(port));
  const found = pid === undefined ? undefined : findProcess(pid);
  if (!found) return undefined;
  const tmux = tmuxPane(environmentOf(found.pid));
  return { process: { pid: found.pid, start: found.start }, ...(tmux && { tmux }) };
}
