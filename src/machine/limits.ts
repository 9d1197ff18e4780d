/** The bounds of what is read from this machine, each with its reason. */
import { MIB } from "../core/units.ts";

/** Shells and the like between a host and its hook: more are a strange set-up. */
export const MAX_SHELLS = 8;

/** A settings file is a page; whatever is larger is another file. */
export const MAX_CONFIG_BYTES = 1 * MIB;

/** As long as the name of a pane, a terminal or an agent in the environment ever is, and more. */
export const MAX_VARIABLE_LENGTH = 128;

/** As many processes as are looked at in one go, and more; a daemon has thousands of files left. */
export const MAX_PROCESS_FILES = 64;
