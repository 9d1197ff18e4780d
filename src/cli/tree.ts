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
