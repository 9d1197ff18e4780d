/** A real coding agent, and the moments of a person's day with it. */
import type { Stage } from "./stage.ts";

export interface Program {
  /** Its word on the command line, and what its rows are named after. */
  readonly name: string;
  /** Its name in the npm registry. */
  readonly package: string;
  readonly versions: readonly string[];
  /** Whether its licence forbids to install it for people who did not name it. */
  readonly isProprietary?: boolean;
  play(stage: Stage): Promise<void>;
}
