/** Every command of `rollcall`, under the heading of the overview. A command is one line here. */
import type { Group, Program } from "./program.ts";

const AGENTS: Group = {
  brief: "Who is here, and what each can do",
  usual: "list",
  commands: {
    list: {
      brief: "List the agents that are here",
      load: async () => (await import("./commands/agents.ts")).agentsList,
    },
    get: {
      brief: "Show one agent with its card",
      load: async () => (await import("./commands/agents.ts")).agentsGet,
    },
    register: {
      brief: "Register an agent, and print its id",
      load: async () => (await import("./commands/agents.ts")).agentsRegister,
    },
    heartbeat: {
      brief: "Say that an agent is alive",
      load: async () => (await import("./commands/agents.ts")).agentsHeartbeat,
    },
    deregister: {
      brief: "Let an agent go, with all it holds",
      load: async () => (await import("./commands/agents.ts")).agentsDeregister,
    },
  },
};

const LEASES: Group = {
  brief: "Who holds what, one agent at a time",
  usual: "list",
  commands: {
    list: {
      brief: "List the leases that are held",
      load: async () => (await import("./commands/leases.ts")).leasesList,
    },
    get: {
      brief: "Show one lease: who holds it, and its token",
      load: async () => (await import("./commands/leases.ts")).leasesGet,
    },
    acquire: {
      brief: "Acquire a lease, and print its token",
      load: async () => (await import("./commands/leases.ts")).leasesAcquire,
    },
    renew: {
      brief: "Hold a lease for longer",
      load: async () => (await import("./commands/leases.ts")).leasesRenew,
    },
    release: {
      brief: "Give a lease back before it ends",
      load: async () => (await import("./commands/leases.ts")).leasesRelease,
    },
  },
};

const ELECTIONS: Group = {
  brief: "Which agent leads each group",
  usual: "list",
  commands: {
    list: {
      brief: "List the groups and who leads them",
      load: async () => (await import("./commands/elections.ts")).electionsList,
    },
    get: {
      brief: "Show one group: its leader and its candidates",
      load: async () => (await import("./commands/elections.ts")).electionsGet,
    },
    campaign: {
      brief: "Have an agent stand for a group",
      load: async () => (await import("./commands/elections.ts")).electionsCampaign,
    },
    resign: {
      brief: "Have an agent stand no longer",
      load: async () => (await import("./commands/elections.ts")).electionsResign,
    },
  },
};

const POLICIES: Group = {
  brief: "Who may do what",
  usual: "list",
  commands: {
    list: {
      brief: "List the policies",
      load: async () => (await import("./commands/policies.ts")).policiesList,
    },
    set: {
      brief: "Set a policy, in place of one with the same id",
      load: async () => (await import("./commands/policies.ts")).policiesSet,
    },
    delete: {
      brief: "Delete a policy",
      load: async () => (await import("./commands/policies.ts")).policiesDelete,
    },
    check: {
      brief: "Ask whether somebody may do something",
      load: async () => (await import("./commands/policies.ts")).policiesCheck,
    },
  },
};

const TASKS: Group = {
  brief: "The queue: what waits, what is worked on",
  usual: "list",
  commands: {
    list: {
      brief: "List the tasks that are not finished",
      load: async () => (await import("./commands/tasks.ts")).tasksList,
    },
    get: {
      brief: "Show one task with what went in and came out",
      load: async () => (await import("./commands/tasks.ts")).tasksGet,
    },
    create: {
      brief: "Create a task, and print its id",
      load: async () => (await import("./commands/tasks.ts")).tasksCreate,
    },
    claim: {
      brief: "Claim the task that has waited longest",
      load: async () => (await import("./commands/work.ts")).tasksClaim,
    },
    renew: {
      brief: "Say that a task is still worked on",
      load: async () => (await import("./commands/work.ts")).tasksRenew,
    },
    complete: {
      brief: "Say that a task is done, and what came out",
      load: async () => (await import("./commands/work.ts")).tasksComplete,
    },
    fail: {
      brief: "Give a task up: it is tried again, or dead",
      load: async () => (await import("./commands/work.ts")).tasksFail,
    },
  },
};

const JOBS: Group = {
  brief: "Jobs on agents: which there are, what each says",
  usual: "ls",
  commands: {
    ls: {
      brief: "List the jobs, the oldest first",
      load: async () => (await import("./commands/jobs.ts")).jobsList,
    },
    get: {
      brief: "Show one job: what it may do, and how it is",
      load: async () => (await import("./commands/jobs.ts")).jobsGet,
    },
    tail: {
      brief: "Follow a job, from its beginning to its end",
      load: async () => (await import("./commands/jobs.ts")).jobsTail,
    },
    cancel: {
      brief: "Cancel a job, and wait for its end",
      load: async () => (await import("./commands/jobs.ts")).jobsCancel,
    },
  },
};

const DIRECTORY: Group = {
  brief: "Agents that others can call, and how far to trust each",
  usual: "ls",
  commands: {
    ls: {
      brief: "List the agents that others can call",
      load: async () => (await import("./commands/directory.ts")).directoryList,
    },
    get: {
      brief: "Show one agent, and what of its card waits to change",
      load: async () => (await import("./commands/directory.ts")).directoryGet,
    },
    search: {
      brief: "Find agents of the directory by what they are good at",
      load: async () => (await import("./commands/directory.ts")).directorySearch,
    },
    add: {
      brief: "Add an agent by its URL, until it is removed",
      load: async () => (await import("./commands/directory.ts")).directoryAdd,
    },
    rm: {
      brief: "Remove an agent; a heartbeat would bring it back",
      load: async () => (await import("./commands/directory.ts")).directoryRemove,
    },
    verify: {
      brief: "Fetch the card of an agent anew, now",
      load: async () => (await import("./commands/directory.ts")).directoryVerify,
    },
  },
};

const HOOKS: Group = {
  brief: "Make Claude Code, Codex, OpenCode or Pi show up by themselves",
  usual: "status",
  commands: {
    status: {
      brief: "Say which coding agents show up by themselves",
      load: async () => (await import("./commands/hooks.ts")).hooksStatus,
    },
    install: {
      brief: "Make a coding agent show up by itself",
      load: async () => (await import("./commands/hooks.ts")).hooksInstall,
    },
    uninstall: {
      brief: "Take our hooks out again",
      load: async () => (await import("./commands/hooks.ts")).hooksUninstall,
    },
  },
};

const ACP: Group = {
  brief: "See what an editor's agent does, without touching it",
  usual: "status",
  more:
    "An editor starts `rollcall acp -- COMMAND…` instead of COMMAND…: every byte goes through\n" +
    "as it is, and the agent shows up in `rollcall ls`, with what it does and what it asks.",
  commands: {
    status: {
      brief: "Show who runs through the proxy now",
      load: async () => (await import("./commands/acp.ts")).acpStatus,
    },
    tail: {
      brief: "Follow what they do, change by change",
      load: async () => (await import("./commands/acp.ts")).acpTail,
    },
    install: {
      brief: "Put an editor's agents behind the proxy",
      load: async () => (await import("./commands/acp-install.ts")).acpInstall,
    },
    uninstall: {
      brief: "Take an editor's agents out again",
      load: async () => (await import("./commands/acp-install.ts")).acpUninstall,
    },
    run: {
      brief: "What an editor starts instead of its agent",
      load: async () => (await import("./commands/acp-run.ts")).acpRun,
    },
    record: {
      brief: "The same, and write the conversation down",
      load: async () => (await import("./commands/acp-run.ts")).acpRecord,
    },
    replay: {
      brief: "Show the timeline of a recording",
      load: async () => (await import("./commands/acp.ts")).acpReplay,
    },
  },
};

export const PROGRAM: Program = {
  name: "rollcall",
  tagline: "rollcall: one control plane for AI agents",
  groups: {
    "Run it": {
      up: {
        brief: "Start the daemon, in the foreground",
        load: async () => (await import("./commands/up.ts")).up,
      },
      "a2a-registry": {
        brief: "Run a registry of A2A agents, and nothing else to set up",
        load: async () => (await import("./commands/a2a-registry.ts")).a2aRegistry,
      },
      doctor: {
        brief: "Find what is wrong here, and how to fix it",
        load: async () => (await import("./commands/doctor.ts")).doctor,
      },
    },
    "See what happens": {
      ls: {
        brief: "Who is here, what each does, and which one needs you",
        load: async () => (await import("./commands/ls.ts")).ls,
      },
      explain: {
        brief: "Why an agent is shown as it is, with the evidence",
        load: async () => (await import("./commands/explain.ts")).explain,
      },
      timeline: {
        brief: "What happened to an agent",
        load: async () => (await import("./commands/timeline.ts")).timeline,
      },
      inbox: {
        brief: "What agents wait for you to answer",
        load: async () => (await import("./commands/inbox.ts")).inbox,
      },
      at: {
        brief: "Look back: `rollcall at 14:03 ls`",
        load: async () => (await import("./commands/at.ts")).at,
      },
      agents: AGENTS,
      directory: DIRECTORY,
      find: {
        brief: "Find agents by what they are good at",
        load: async () => (await import("./commands/find.ts")).find,
      },
      events: {
        brief: "Follow what happens, live or from any point of the past",
        load: async () => (await import("./commands/events.ts")).events,
      },
    },
    "Run jobs": {
      run: {
        brief: "Run a job on an agent, and print its result",
        load: async () => (await import("./commands/run.ts")).run,
      },
      jobs: JOBS,
    },
    "Coordinate agents": {
      leases: LEASES,
      elections: ELECTIONS,
      policies: POLICIES,
      tasks: TASKS,
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
      acp: ACP,
      hooks: HOOKS,
      hook: {
        brief: "What coding agents run at every step",
        load: async () => (await import("./commands/hook.ts")).hook,
      },
      mcp: {
        brief: "Give a model the fleet, leases and tasks as tools (MCP)",
        load: async () => (await import("./commands/mcp.ts")).mcp,
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
