/** Metadata beside the messages, where the proto has no field; all of it optional. */

/** Asked of a stream: every event after this sequence, then live. */
export const FROM_SEQUENCE = "rollcall-from-sequence";

/** Told by a stream that starts live: where it starts. */
export const SEQUENCE_HEADER = "rollcall-sequence";

/** The token of a claim: told with the task, and a caller that sends it back is held to it. */
export const FENCING_TOKEN = "rollcall-fencing-token";

/** Sent with a heartbeat: the agent still works on this task, so its claim starts over. */
export const RENEW_TASK = "rollcall-renew-task";

/** Told with a claim, and when it was renewed: how long it lasts from there. */
export const CLAIM_TTL_MS = "rollcall-claim-ttl-ms";
