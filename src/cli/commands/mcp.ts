/** `rollcall mcp`: what an MCP client starts to give its model the tools of a daemon. */
import { buildCommand } from "@stricli/core";
import { McpPipe } from "../../wires/mcp/pipe.ts";
import { findTarget } from "../../net/http/target.ts";
import type { Context } from "../context.ts";
import { note } from "../print.ts";
import { daemonFlags, type DaemonFlags } from "../flags.ts";
import { about } from "../help.ts";
import { linesOf } from "../stdin-lines.ts";

export const mcp = buildCommand<DaemonFlags, [], Context>({
  docs: about(
    "Speak the Model Context Protocol on stdin and stdout, for a client that starts it: the " +
      "model can then find agents, share work by leases and tasks, and say what it does. A " +
      "daemon must run. Clients that speak HTTP need no command: their address is URL/mcp.",
    { call: "claude mcp add rollcall -- rollcall mcp", does: "add it to Claude Code" },
    { call: "codex mcp add rollcall -- rollcall mcp", does: "add it to Codex" },
    { call: "rollcall mcp --url :9091", does: "of a daemon elsewhere" },
  ),
  parameters: { flags: { ...daemonFlags } },
  async func(flags) {
    const signal = this.untilInterrupted();
    await using pipe = new McpPipe({
      ...findTarget(flags, this.env),
      agentId: this.env["ROLLCALL_AGENT_ID"] || undefined,
      agentKey: this.env["ROLLCALL_AGENT_KEY"] || undefined,
      write: (line) => this.out.line(line),
      signal,
    });
    await pipe.open();
    if (process.stdin.isTTY) {
      await note(this, "an MCP client talks to this on stdin; Ctrl-C ends it");
    }
    for await (const line of linesOf(process.stdin, signal)) await pipe.take(line);
    if (!signal.aborted) await pipe.settle();
  },
});
