/** Every command of `rollcall`, under the heading of the overview. A command is one line here. */
import type { Program } from "./program.ts";

export const PROGRAM: Program = {
  name: "rollcall",
  tagline: "rollcall: one control plane for AI agents",
  groups: {
    "Run it": {
      up: {
        brief: "Start the daemon, in the foreground",
        load: async () => (await import("./commands/up.ts")).up,
      },
      doctor: {
        brief: "Find what is wrong here, and how to fix it",
        load: async () => (await import("./commands/doctor.ts")).doctor,
      },
    },
    "See what happens": {
      events: {
        brief: "Follow what happens, live or from any point of the past",
        load: async () => (await import("./commands/events.ts")).events,
      },
    },
    "Status files": {
      list: {
        brief: "Show the agents of this machine, from their status files",
        load: async () => (await import("./commands/status-files.ts")).list,
      },
      watch: {
        brief: "Show the agents of this machine, as they change",
        load: async () => (await import("./commands/status-files.ts")).watch,
      },
      get: {
        brief: "Print the status file of an agent",
        load: async () => (await import("./commands/status-files.ts")).get,
      },
      emit: {
        brief: "Write the status of an agent into its file",
        load: async () => (await import("./commands/status-files.ts")).emit,
      },
      prune: {
        brief: "Remove status files that are old and over",
        load: async () => (await import("./commands/status-files.ts")).prune,
      },
      validate: {
        brief: "Check a status file, or print what one must be",
        load: async () => (await import("./commands/status-files.ts")).validate,
      },
    },
    "Coding agents": {
      hooks: {
        brief: "Make Claude Code, Codex, OpenCode or Pi show up by themselves",
        load: async () => (await import("./commands/hooks.ts")).hooks,
      },
      hook: {
        brief: "What coding agents run at every step",
        load: async () => (await import("./commands/hook.ts")).hook,
      },
    },
    Else: {
      completion: {
        brief: "Make the shell complete commands and flags",
        load: async () => (await import("./commands/completion.ts")).completion,
      },
      version: {
        brief: "Say which version this is",
        load: async () => (await import("./commands/version.ts")).version,
      },
    },
    "": {
      __complete: {
        brief: "Propose how the words given may go on",
        load: async () => (await import("./commands/complete.ts")).complete,
      },
    },
  },
  closing: [
    "rollcall COMMAND --help says more, with examples.",
    "Exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 no daemon, 4 refused.",
  ],
};
