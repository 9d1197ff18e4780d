/**
 * Ids of the job protocol: what it names, and a ULID. The prefix makes an id tell what it is of,
 * and makes it pass the checks of every SDK.
 */
const PREFIX = {
  message: "msg_",
  session: "sess_",
  job: "job_",
  result: "res_",
  credential: "cred_",
  delegate: "del_",
} as const;

export type IdOf = keyof typeof PREFIX;

/** A fresh id of a kind, from a maker of ULIDs. */
export function newId(of: IdOf, ulid: () => string): string {
  return PREFIX[of] + ulid();
}
