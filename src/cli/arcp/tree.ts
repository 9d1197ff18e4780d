/** Every command of `arcp`. */
import type { Program } from "../program.ts";

export const ARCP: Program = {
  name: "arcp",
  tagline: "arcp: jobs on agents, by the Agent Runtime Control Protocol 1.1",
  groups: {
    Commands: {
      serve: {
        brief: "Run a runtime with the agent `echo`",
        load: async () => (await import("./serve.ts")).serve,
      },
      submit: {
        brief: "Submit a job and print its result",
        load: async () => (await import("./submit.ts")).submit,
      },
      tail: {
        brief: "Follow a job, one JSON object a line",
        load: async () => (await import("./tail.ts")).tail,
      },
      replay: {
        brief: "Print the frames that a runtime kept of a session",
        load: async () => (await import("./replay.ts")).replay,
      },
      version: {
        brief: "Say which version this is",
        load: async () => (await import("./version.ts")).version,
      },
    },
  },
  closing: [
    "arcp COMMAND --help says more, with examples.",
    "Exit codes: 0 done, 1 failed or not found, 2 wrong usage, 3 no runtime, 4 refused.",
  ],
};
