/**
 * The tour, in order: everybody comes, one dies, the daemon dies, a machine dies, and all goes on.
 */
import type { Step } from "../player.ts";
import { A_CODING_AGENT, AN_EDITOR, WHY } from "./coding-agents.ts";
import { A_CRASH, ONE_DAEMON } from "./daemon.ts";
import { A_DEATH, ONE_STORY } from "./death.ts";
import { A_NEIGHBOUR } from "./directory.ts";
import { EVERYBODY, LOOKING_BACK, THE_END } from "./fleet.ts";
import { A_JOB } from "./jobs.ts";
import { A_FAIL_OVER, TWO_MACHINES } from "./machines.ts";
import { WORKERS } from "./workers.ts";

export const STEPS: readonly Step[] = [
  ONE_DAEMON,
  A_CODING_AGENT,
  AN_EDITOR,
  WORKERS,
  A_NEIGHBOUR,
  A_JOB,
  EVERYBODY,
  WHY,
  A_DEATH,
  ONE_STORY,
  A_CRASH,
  LOOKING_BACK,
  TWO_MACHINES,
  A_FAIL_OVER,
  THE_END,
];
