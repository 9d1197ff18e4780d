/** Every command of `rollcall`, under the heading of the overview. A command is one line here. */
import { HINTS } from "./hints.ts";
import { group, type CommandGroup, type Program } from "./program.ts";

const AGENTS = group({
  brief: "Registered agents, and what each can do",
  usual: "list",
  load: async () => (await import("./commands/agents.ts")).agents,
  commands: {
    list: "List the agents that are here",
    get: "Show one agent with its card",
    register: "Register an agent, and print its id",
    heartbeat: "Say that an agent is alive",
    deregister: "Deregister an agent, and release all that it holds",
  },
});

const LEASES = group({
  brief: "Leases: one agent at a time holds a key",
  usual: "list",
  load: async () => (await import("./commands/leases.ts")).leases,
  commands: {
    list: "List the leases that are held",
    get: "Show one lease: who holds it, and its token",
    acquire: "Acquire a lease, and print its token",
    renew: "Hold a lease for longer",
    release: "Give a lease back before it ends",
  },
});

const ELECTIONS = group({
  brief: "Which agent leads each group",
  usual: "list",
  load: async () => (await import("./commands/elections.ts")).elections,
  commands: {
    list: "List the groups and who leads them",
    get: "Show one group: its leader and its candidates",
    campaign: "Make an agent a candidate of a group",
    resign: "Withdraw an agent from a group; a leader resigns",
  },
});

const POLICIES = group({
  brief: "Rules that allow or deny actions",
  usual: "list",
  load: async () => (await import("./commands/policies.ts")).policies,
  commands: {
    list: "List the policies",
    roles: "List the policies that ship: what each role may do",
    set: "Set a policy, in place of one with the same id",
    delete: "Delete a policy",
    check: "Ask whether a subject may do an action",
  },
});

const TOKENS = group({
  brief: "Tokens that let programs in, each in one role",
  usual: "list",
  load: async () => (await import("./commands/tokens.ts")).tokens,
  commands: {
    list: "List the tokens, and how long each is good for",
    create: "Create a token, and print its secret, this once",
    revoke: "Revoke a token; its connections end at once",
  },
});

const OUTPOSTS = group({
  brief: "The machines whose daemons report to this one",
  usual: "list",
  load: async () => (await import("./commands/outposts.ts")).outposts,
  commands: {
    list: "List the outposts, and since when one is silent",
    run: "Run a job on an agent of that machine",
    cancel: "Cancel a job on the machine that runs it",
  },
});

const TLS = group({
  brief: "The certificate of the daemon, for other machines",
  usual: "show",
  load: async () => (await import("./commands/tls.ts")).tls,
  commands: {
    show: "Show a certificate: its names, its end, its fingerprint",
    "self-signed": "Make a certificate and its key, to try TLS",
  },
});

const CONTEXT = group({
  brief: "The daemons that you logged in to, and the current one",
  usual: "list",
  load: async () => (await import("./commands/context.ts")).context,
  commands: {
    list: "List the contexts",
    use: "Make a context the current one",
    current: "Print the name of the current one",
    rename: "Rename a context",
    remove: "Remove a context, with its token",
  },
});

const TASKS = group({
  brief: "The queue: tasks that wait, and tasks under way",
  usual: "list",
  load: async () => ({
    ...(await import("./commands/tasks.ts")).tasks,
    ...(await import("./commands/work.ts")).work,
  }),
  commands: {
    list: "List the tasks that are not finished",
    get: "Show one task with what went in and came out",
    create: "Create a task, and print its id",
    cancel: "Cancel a task, also one that is worked on",
    claim: "Claim the task that has waited longest",
    renew: "Say that a task is still worked on",
    complete: "Say that a task is done, and what came out",
    fail: "Fail a task: it is retried, or dead after the last retry",
  },
});

const JOBS = group({
  brief: "Jobs: list, follow and cancel them",
  usual: "list",
  load: async () => (await import("./commands/jobs.ts")).jobs,
  commands: {
    list: "List the jobs, the oldest first",
    get: "Show one job: its lease, its budget and its state",
    tail: "Follow a job, from its beginning to its end",
    cancel: "Cancel a job, and wait for its end",
  },
});

const DIRECTORY = group({
  brief: "A2A agents that others can call, and how far to trust each",
  usual: "list",
  load: async () => (await import("./commands/directory.ts")).directory,
  commands: {
    list: "List the A2A agents that others can call",
    get: "Show one agent, and what of its card waits to change",
    search: "Find agents of the directory by what they are good at",
    add: "Add an agent by its URL, until it is removed",
    delete: "Remove an agent; a heartbeat would bring it back",
    verify: "Fetch the card of an agent anew, now",
  },
});

const CLUSTER = group({
  brief: "The members that share one log, and which one leads",
  usual: "status",
  load: async () => (await import("./commands/cluster.ts")).cluster,
  commands: {
    status: "Show the leader, the log, and this member's part",
    members: "List the members, each as it answers now",
    "step-down": "Have another member lead",
    leave: "Give up a member that is gone",
    finalize: "End an upgrade: raise the format of the log",
    doctor: "Find problems of the cluster, and their fix",
  },
});

const HOOKS = group({
  brief: "Make coding agents show up by themselves",
  usual: "status",
  load: async () => (await import("./commands/hooks.ts")).hooks,
  commands: {
    status: "Say which coding agents show up by themselves",
    install: "Make a coding agent show up by itself",
    uninstall: "Take our hooks out again",
  },
});

const ACP: CommandGroup = {
  brief: "Watch an editor's agent, without a change to it",
  usual: "status",
  more:
    "An editor starts `rollcall acp -- COMMAND…` instead of COMMAND…: every byte goes through\n" +
    "as it is, and the agent shows up in `rollcall ls`, with what it does and what it asks.",
  commands: {
    status: {
      brief: "List the agents behind proxies",
      load: async () => (await import("./commands/acp.ts")).acpStatus,
    },
    tail: {
      brief: "Follow their status, change by change",
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
      brief: "The proxy: an editor starts it instead of its agent",
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
        brief: "Run an A2A registry alone",
        load: async () => (await import("./commands/a2a-registry.ts")).a2aRegistry,
      },
      doctor: {
        brief: "Find problems on this machine, and their fix",
        load: async () => (await import("./commands/doctor.ts")).doctor,
      },
      backup: {
        brief: "Back up the state, while the daemon goes on",
        load: async () => (await import("./commands/backup.ts")).backup,
      },
      restore: {
        brief: "Restore a backup, where no state is yet",
        load: async () => (await import("./commands/restore.ts")).restore,
      },
      migrate: {
        brief: "Move the log to a database that several members share",
        load: async () => (await import("./commands/migrate.ts")).migrate,
      },
      compact: {
        brief: "Make the database file smaller",
        load: async () => (await import("./commands/compact.ts")).compact,
      },
    },
    "See what happens": {
      ls: {
        brief: "All agents: what each does, and which one needs you",
        load: async () => (await import("./commands/ls.ts")).ls,
      },
      explain: {
        brief: "Why an agent is shown as it is, with the evidence",
        load: async () => (await import("./commands/explain.ts")).explain,
      },
      timeline: {
        brief: "The history of an agent",
        load: async () => (await import("./commands/timeline.ts")).timeline,
      },
      inbox: {
        brief: "Questions that wait for your answer",
        load: async () => (await import("./commands/inbox.ts")).inbox,
      },
      dismiss: {
        brief: "Take a question, or an agent, off the list",
        load: async () => (await import("./commands/dismiss.ts")).dismiss,
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
      audit: {
        brief: "Who changed what, and what was denied",
        load: async () => (await import("./commands/audit.ts")).audit,
      },
      events: {
        brief: "Follow all events, live or from any point of the past",
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
    "Beyond this machine": {
      login: {
        brief: "Log in to a daemon, and talk to it from now on",
        load: async () => (await import("./commands/login.ts")).login,
      },
      context: CONTEXT,
      whoami: {
        brief: "Say how the daemon knows you, and in which roles",
        load: async () => (await import("./commands/whoami.ts")).whoami,
      },
      tokens: TOKENS,
      outposts: OUTPOSTS,
      export: {
        brief: "Print policies and tokens as TOML",
        load: async () => (await import("./commands/export.ts")).exportCommand,
      },
      import: {
        brief: "Set policies and tokens from a file of `export`",
        load: async () => (await import("./commands/export.ts")).importCommand,
      },
      cluster: CLUSTER,
      tls: TLS,
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
        brief: "Remove status files of agents that ended long ago",
        load: async () => (await import("./commands/status-files.ts")).prune,
      },
      validate: {
        brief: "Check a status file, or print its schema",
        load: async () => (await import("./commands/status-files.ts")).validate,
      },
    },
    "Coding agents": {
      acp: ACP,
      hooks: HOOKS,
      hook: {
        brief: "The hook that coding agents run at every step",
        load: async () => (await import("./commands/hook.ts")).hook,
      },
      mcp: {
        brief: "Give a model the fleet, leases and tasks as tools (MCP)",
        load: async () => (await import("./commands/mcp.ts")).mcp,
      },
    },
    Other: {
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
    "Exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 no daemon, 4 refused,",
    "70 a fault of rollcall; `run` also 1 failed, 124 timed out, 130 cancelled.",
  ],
  hints: HINTS,
};
