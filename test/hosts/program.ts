/** A real coding agent, and the moments of a person's day with it. */
import type { Package } from "./packages.ts";
import type { Stage } from "./stage.ts";

export interface Program {
  /** Its word on the command line. */
  readonly name: string;
  /** What its rows are named after: its name, unless given. */
  readonly shownAs?: string;
  /** Its name in the npm registry. */
  readonly package: string;
  readonly versions: readonly string[];
  /** What it needs beside it. */
  readonly also?: readonly Package[];
  /** Whether its licence forbids to install it for people who did not name it. */
  readonly isProprietary?: boolean;
  /** Whether it plays a part of another's moments, for CI: only when it is named. */
  readonly isBrief?: boolean;
  /** Whether its machine is an outpost, and the rows are those of the team's daemon. */
  readonly isOutpost?: boolean;
  play(stage: Stage): Promise<void>;
}
