/**
 * Runs the daemon in this process until it is told to stop. Shared by `rollcall up` and
 * `agentkeeper`, which differ in their flags. The latter starts as the original does, where the
 * former refuses: with HTTP on a free port, and on every interface without TLS.
 */
import type { Context } from "./context.ts";
import { describeError, EXIT, startExitCodeOf } from "./exit.ts";

export interface DaemonRunOptions {
  /** Whether HTTP may take a free port when the default one is taken. */
  readonly mayMoveHttp?: boolean;
  /** Whether a port beyond this machine needs TLS, or a trusted network. */
  readonly isStrict?: boolean;
}

export async function serve(
  context: Context,
  flags: Record<string, string>,
  options: DaemonRunOptions = {},
): Promise<void> {
  const { out, err, env } = context;
  try {
    // Only here: the daemon is most of what there is to load.
    const [{ loadConfig }, { checkExposure }, { startDaemon }, { untilStopped }] =
      await Promise.all([
        import("../daemon/config.ts"),
        import("../daemon/exposure.ts"),
        import("../daemon/compose.ts"),
        import("../daemon/signals.ts"),
      ]);
    const config = await loadConfig({ flags, env, ...options });
    if (options.isStrict) checkExposure(config);
    const daemon = await startDaemon(config);
    // Before the announcement: its reader may send a signal at once.
    const stopped = untilStopped(daemon);
    for (const line of daemon.announcement()) await out.line(line);
    if ((await stopped) !== 0) context.endWith(EXIT.fault);
  } catch (error) {
    await err.line(describeError(error, err, env));
    context.endWith(startExitCodeOf(error));
  }
}
