/**
 * What happens in other processes, on sockets and on disk takes as long as the machine lets it. The
 * one second that `vi.waitFor` gives by default is a second of a machine without other work; a test
 * that says nothing else gets as long as it may take in all.
 */
import { vi } from "vitest";

const PATIENCE_MS = 30_000;

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(
    callback,
    typeof options === "number" ? options : { timeout: PATIENCE_MS, interval: 20, ...options },
  );
