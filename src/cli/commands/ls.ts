/** `rollcall ls`: who is here, what each does, and which one needs you. */
import { showFleet, type FleetFlags } from "../fleet/show.ts";
import { listFlags, switchFlag, type ListFlags } from "../flags.ts";
import { commandLine } from "../operation.ts";

const line = commandLine<Omit<FleetFlags, keyof ListFlags>>("fleet.list", {
  words: { all: "--all", at: "--at TIME" },
  flags: {
    needsMe: switchFlag("Only agents that wait for a person"),
    oneline: switchFlag("Counts on one line, for a prompt or a status bar"),
  },
  more: "Without a daemon it reads the status files of this machine.",
  examples: [
    { call: "rollcall ls", does: "all but agents gone for an hour" },
    { call: "rollcall ls --needs-me", does: "only agents that wait for you" },
    { call: "rollcall ls --watch", does: "the same, live" },
    { call: "rollcall ls --oneline", does: "2 need you · 5 working · 3 idle" },
    { call: "rollcall at 14:03 ls", does: "as it was then" },
  ],
});

export const ls = line.command<ListFlags>(listFlags, (context, { flags }) => {
  return showFleet(context, flags);
});
