/**
 * Runs the daemon in this process until it is told to stop. Shared by `rollcall up` and
 * `agentkeeper`, which differ in their flags and in nothing else.
 */
import type { Context } from "./context.ts";
import { describeError, EXIT, startExitCodeOf } from "./exit.ts";

export async function serve(context: Context, flags: Record<string, string>): Promise<void> {
  const { out, err, env } = context;
  try {
    // Only here: the daemon is most of what there is to load.
    const [{ loadConfig }, { startDaemon }, { untilStopped }] = await Promise.all([
      import("../daemon/config.ts"),
      import("../daemon/compose.ts"),
      import("../daemon/signals.ts"),
    ]);
    const daemon = await startDaemon(await loadConfig({ flags, env }));
    // Before the announcement: its reader may send a signal at once.
    const stopped = untilStopped(daemon);
    for (const line of daemon.announcement()) await out.line(line);
    if ((await stopped) !== 0) context.endWith(EXIT.fault);
  } catch (error) {
    await err.line(describeError(error, err, env));
    context.endWith(startExitCodeOf(error));
  }
}
