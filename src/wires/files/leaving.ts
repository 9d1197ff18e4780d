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
    for (const signal of SIGNALS) process.on(signal, endBy);
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

function endBy(signal: NodeJS.Signals): void {
  // Another listener decides what the signal means; if it ends the process, "exit" comes too.
  if (process.listenerCount(signal) > 1) return;
  closeAll();
  process.kill(process.pid, signal);
}
