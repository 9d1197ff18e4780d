/**
 * Emitters close when their process ends, also by a signal that nobody else handles: then it ends
 * by that signal all the same, as it would have without us.
 */
interface Leaver {
  closeSync(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const leavers = new Set<Leaver>();

export function leaveWith(leaver: Leaver): void {
  if (leavers.size === 0) {
    process.on("exit", closeAll);
    listen();
  }
  leavers.add(leaver);
}

export function stay(leaver: Leaver): void {
  leavers.delete(leaver);
  if (leavers.size > 0) return;
  process.off("exit", closeAll);
  for (const signal of SIGNALS) process.off(signal, endBy);
}

function closeAll(): void {
  for (const leaver of leavers) leaver.closeSync();
}

/** Before all others: see below. */
function listen(): void {
  for (const signal of SIGNALS) process.off(signal, endBy).prependListener(signal, endBy);
}

function endBy(signal: NodeJS.Signals): void {
  // Another listener decides what the signal means; if it ends the process, "exit" comes too. It
  // may be one that, as this one, only does so where nobody else listens: so this one does not.
  if (process.listenerCount(signal) > 1) {
    process.off(signal, endBy);
    setImmediate(() => {
      if (leavers.size > 0) listen();
    });
    return;
  }
  closeAll();
  process.kill(process.pid, signal);
}
