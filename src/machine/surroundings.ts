/** Where a hook runs: its host's process, its terminal, who it is for the fleet. */
import { findProcess, type ProcessProof } from "./processes.ts";
import { MAX_SHELLS, MAX_VARIABLE_LENGTH } from "./limits.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Hosts run their hooks through these; a login shell has a dash before its name. */
const SHELLS = /^-?(?:sh|bash|dash|ash|zsh|fish|ksh|busybox|env|timeout|nice|setsid)$/;
const RUNNERS = /^(?:p?npm|npx|yarn|bunx)\b/;

/** The host is the first process above the hook that is no shell, nor runs scripts. */
export function hostProcess(parent: number = process.ppid): ProcessProof | undefined {
  let pid = parent;
  for (let step = 0; step < MAX_SHELLS; step += 1) {
    const found = pid > 1 ? findProcess(pid) : undefined;
    if (!found) return undefined;
    const { name, start, parent: above } = found;
    if (!SHELLS.test(name) && !RUNNERS.test(name)) return { pid, start };
    pid = above;
  }
  return undefined;
}

export interface TmuxPane {
  readonly socket: string;
  readonly pane: string;
}

/** TMUX is "socket,pid,index", and the path of the socket may hold commas. */
export function tmuxPane({ TMUX, TMUX_PANE }: Environment): TmuxPane | undefined {
  const socket = /^(?<path>.+),\d+,\d+$/s.exec(TMUX ?? "")?.groups?.["path"];
  if (socket === undefined || !/^%\d+$/.test(TMUX_PANE ?? "")) return undefined;
  return { socket, pane: TMUX_PANE ?? "" };
}

/** As the design bounds ids; anything else is no id of ours. */
const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]*$/;

export function rollcallAgentId({ ROLLCALL_AGENT_ID: id = "" }: Environment): string | undefined {
  return AGENT_ID.test(id) && id.length <= MAX_VARIABLE_LENGTH ? id : undefined;
}
