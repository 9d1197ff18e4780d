/** Advice for commands that people expect and that do not exist. */
const UP = "`rollcall up` starts the daemon, `rollcall doctor` checks it";
const STOP = "the daemon runs in the foreground of `rollcall up`: Ctrl-C ends it there";
const LOGS = "`rollcall events --from 0` shows what happened; the daemon logs to its stderr";

export const HINTS: Readonly<Record<string, string>> = {
  "-v": "--version says which version this is, --verbose where an error came from",
  status: "`rollcall ls` shows the agents, `rollcall doctor` the daemon",
  ps: "`rollcall ls` shows the agents",
  start: UP,
  serve: UP,
  logout: "`rollcall context remove NAME`",
  stop: STOP,
  down: STOP,
  restart: STOP,
  log: LOGS,
  logs: LOGS,
  init: "nothing has to be set up: `rollcall up` starts the daemon",
  daemon: UP,
  server: UP,
  policy: "`rollcall policies`",
  answer: "`rollcall inbox` lists the questions; answer each in the program that asks",
  config: "`rollcall up --help` lists the settings",
  install: "`rollcall hooks install AGENT` or `rollcall acp install EDITOR`",
  register: "`rollcall agents register NAME`",
  submit: "`rollcall run AGENT INPUT`",
};
