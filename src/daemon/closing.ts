/**
 * The end of a daemon: commands under way become durable, watchers hear why it ends, then
 * everything goes, each part within its time.
 *
 * A member leaves its cluster last of all that is written, right before its engine closes: from
 * then on no other member finds it. Had a leader left before its jobs ended, the others would have
 * no leader until it resigns, and none of them would take over while it still signs.
 */
import { RollcallError } from "../core/errors.ts";
import { CLOSING } from "./limits.ts";
import type { Logger } from "./logger.ts";

interface Closing {
  close(): void;
}

interface ClosingLater {
  close(): Promise<unknown>;
}

export interface ClosingParts {
  readonly logger: Pick<Logger, "info" | "error">;
  readonly doors: { stopAccepting(): void; close(withinMs: number): Promise<unknown> };
  readonly ownToken: Closing;
  readonly pair: Closing | undefined;
  readonly certificates: Closing;
  readonly arcp: ClosingLater;
  readonly services: ClosingLater;
  readonly backups: ClosingLater | undefined;
  readonly audit: ClosingLater;
  /** Where the log is shared with other nodes. */
  readonly cluster: (ClosingLater & { leave(): Promise<unknown> }) | undefined;
  readonly engine: ClosingLater;
  readonly store: ClosingLater;
  readonly metrics: Closing;
}

export async function shutDown(parts: ClosingParts): Promise<void> {
  const { store, audit, engine, services, arcp, cluster, doors, metrics, logger } = parts;
  const step = async (what: string, work: Promise<unknown>, withinMs: number) => {
    try {
      await within(work, withinMs);
    } catch (error) {
      logger.error({ err: error }, `could not close ${what}`);
    }
  };
  logger.info("closing");
  doors.stopAccepting();
  parts.ownToken.close();
  parts.pair?.close();
  parts.certificates.close();
  await step("the jobs", arcp.close(), CLOSING.arcpMs);
  const closed = Promise.all([services.close(), parts.backups?.close()]);
  await step("the services", closed, CLOSING.servicesMs);
  await step("the audit", audit.close(), CLOSING.engineMs);
  if (cluster) await step("the membership", cluster.leave(), CLOSING.leaveMs);
  await step("the engine", engine.close(), CLOSING.engineMs);
  if (cluster) await step("the way to other members", cluster.close(), CLOSING.cutMs);
  await step("the doors", doors.close(CLOSING.doorsMs), CLOSING.doorsMs + CLOSING.cutMs);
  await step("the store", store.close(), CLOSING.storeMs);
  metrics.close();
  logger.info("closed");
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new RollcallError("DEADLINE_EXCEEDED", `it took more than ${ms} ms`));
    }, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
