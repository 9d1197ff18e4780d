/**
 * A coding agent as Rollcall knows it. Everything we know of one program lies in the folder of its
 * name, and `agent.ts` in it is this interface; `agents.ts` lists them all. What several of them
 * share is in hooks/ (the sessions, and programs that run a command of ours at every step) and in
 * install/ (their settings).
 *
 *   install    makes its sessions show up by themselves, and says whether they do
 *   observe    where the evidence of what a session does comes from
 *
 * Answering its questions, prompting it and running it get their members here when they come.
 */
import type { Installer, Scene } from "../machine/settings/installer.ts";

export interface CodingAgent<Name extends string = string> {
  /** Its word on the command line, and what the agent ids of its sessions begin with. */
  readonly name: Name;
  readonly title: string;
  /** The versions that `npm run hosts` was last right for, oldest first. */
  readonly tried: readonly string[];
  /** Where it keeps its settings: found where that exists. */
  readonly home: (scene: Scene) => string;
  readonly install: Installer;
  readonly observe: Observation;
}

/**
 * Hooks are processes that the program starts; a module runs inside of it. Both may know less than
 * the program writes down elsewhere, which is then a second source.
 */
export interface Observation {
  readonly by: "hooks" | "module";
  /** The second source that is watched beside it, in words. */
  readonly beside?: string;
}
