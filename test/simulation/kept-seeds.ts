/**
 * Seeds that found a bug which was then fixed: they run with every test. A seed is only as good as
 * the simulator it was found with: after a change there, find new ones by taking the fix out.
 */

interface KeptSeed {
  readonly seed: number;
  readonly found: string;
}

export const KEPT_SEEDS: readonly KeptSeed[] = [
  { seed: 88, found: "a follower that once failed to lead deposed healthy leaders for ever after" },
  { seed: 71, found: "a leader that was replaced without knowing answered from memory" },
  { seed: 3, found: "leases ran out and agents died because a claim to lead took its time" },
  { seed: 135, found: "a read that slept through a change of leader saw what was not durable" },
  { seed: 189, found: "a watcher was told to start over while its node, alone, was rebuilding" },
];
