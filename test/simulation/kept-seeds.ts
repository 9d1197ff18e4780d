/**
 * Seeds that found a bug which was then fixed: they run with every test. A seed is only as good as
 * the simulator it was found with: after a change there, find new ones by taking the fix out.
 */

interface KeptSeed {
  readonly seed: number;
  readonly found: string;
}

export const KEPT_SEEDS: readonly KeptSeed[] = [
  { seed: 12, found: "a follower that once failed to lead deposed healthy leaders for ever after" },
  { seed: 1982, found: "a leader that was replaced without knowing answered from memory" },
  { seed: 7, found: "leases ran out and agents died because a claim to lead took its time" },
  { seed: 1852, found: "a watcher was told to start over while its node, alone, was rebuilding" },
  { seed: 5, found: "the jobs of a node that died never ended" },
  {
    seed: 322,
    found: "an agent that ran on after its node lost the lead wrote to its job's stream",
  },
  { seed: 2, found: "a budget was written to a job's stream after its end" },
  { seed: 38, found: "a submit that came twice began a job twice" },
  { seed: 573, found: "a job whose stream was trimmed ran again without its input" },
  { seed: 901709, found: "a node that closed wrote what a job spent, but not what was left" },
  { seed: 902695, found: "a member that was behind took a heartbeat without the agent's key" },
  { seed: 21001265, found: "a job submitted at the moment its leader stepped down met a bug" },
  { seed: 31014083, found: "a log of one node wrote an append behind a read that came after it" },
  { seed: 25006838, found: "a node whose wall was put forward took over from a living leader" },
  {
    seed: 25001897,
    found: "a wall that was put forward had answers forgotten that were asked for again",
  },
  { seed: 26004223, found: "a child for another node left its parent's budget only in memory" },
  { seed: 31005306, found: "a child that ended with its node left what it owed to nobody" },
  { seed: 33002899, found: "a node that had resigned wrote what fell due in that moment" },
  { seed: 25006524, found: "a late copy was granted after its caller was told that it was not" },
  { seed: 21001797, found: "jobs that could not be read during a sign of life ended the program" },
];

/** Of the simulator of a whole ARCP runtime. */
export const KEPT_ARCP_SEEDS: readonly KeptSeed[] = [
  { seed: 16, found: "a client that lost two welcomes in a row could not resume its session" },
  { seed: 195, found: "a follower missed the end of a job that ended while its history was read" },
];
