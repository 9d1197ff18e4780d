/**
 * Runs the daemon in this process until it is told to stop. Shared by `rollcall up` and
 * `agentkeeper`, which differ in their flags, and in that HTTP may take a free port in the latter.
 */
import type { Context } from "./context.ts";
import { describeError, EXIT, startExitCodeOf } from "./exit.ts";

export interface ServeOptions {
  /** Whether HTTP may take a free port when the default one is taken. */
  readonly mayMoveHttp?: boolean;
}

export async function serve(
  context: Context,
  flags: Record<string, string>,
  options: ServeOptions = {},
): Promise<void> {
  const { out, err, env } = context;
  try {
    // Only here: the daemon is most of what there is to load.
    const [{ loadConfig }, { startDaemon }, { untilStopped }] = await Promise.all([
      import("../daemon/config.ts"),
      import("../daemon/compose.ts"),
      import("../daemon/signals.ts"),
    ]);
    const daemon = await startDaemon(await loadConfig({ flags, env, ...options }));
    // Before the announcement: its reader may send a signal at once.
    const stopped = untilStopped(daemon);
    for (const line of daemon.announcement()) await out.line(line);
    if ((await stopped) !== 0) context.endWith(EXIT.fault);
  } catch (error) {
    await err.line(describeError(error, err, env));
    context.endWith(startExitCodeOf(error));
  }
}
