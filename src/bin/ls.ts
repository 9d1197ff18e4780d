/**
 * The program behind `rollcall ls` with no flags, or plain ones; see bin/rollcall.ts. People,
 * prompts and status bars call it again and again: no parser is loaded for it.
 */
import { systemContext } from "../cli/context.ts";
import { describeError, exitCodeOf } from "../cli/exit.ts";
import { showFleet } from "../cli/fleet/show.ts";
import { plainFlags } from "../cli/fleet/words.ts";

async function run(): Promise<void> {
  const context = systemContext(process.env);
  try {
    await showFleet(context, plainFlags(process.argv.slice(3)));
  } catch (error) {
    await context.err.line(describeError(error, context.err, context.env));
    context.endWith(exitCodeOf(error));
  }
  // When all of it is written; the rest would only be taking down what ends with the process.
  process.stdout.write("", () => process.exit(context.exitCode));
}

void run();
