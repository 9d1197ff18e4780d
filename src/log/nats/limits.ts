/** The numbers of the NATS store, each with its reason. */

export const NATS = {
  /** To one server: the next one of the URL should be tried before a member is given up. */
  connectMs: 3_000,
  /** A server that is gone without a word is left after so many of these. */
  pingMs: 1_000,
  pings: 2,
  reconnectMs: 100,
  /** Of one request; then it is sent again, by then perhaps to another leader. */
  answerMs: 1_500,
  /** Of the first try; each waits twice as long. A server that froze still gets its share of all
   * direct reads, and the leader that took an append may be gone. */
  firstReadMs: 250,
  firstAppendMs: 500,
  /** How long a read goes on trying: an election takes 4 to 9 s, and a member may wait for that. */
  readWithinMs: 10_000,
  /** How long a server that knows less than was acknowledged may be one that lags. */
  lagMs: 1_000,
  /** Before it is asked again what is there, while servers lag or another append is under way. */
  busyMs: 5,
  /** Before an append is sent again; each try waits twice as long. Often it is our last one that
   * is in the leader's hands: it acknowledges a moment before it puts away. */
  putAwayMs: 1,
  /** A page of a read: at least one message, and no more after so many bytes or messages. */
  pageBytes: 1 << 20,
  pageMessages: 1_000,
  /** Streams whose last message one request asks for; the server takes no more than 1,024. */
  listStreams: 512,
  /** Requests for single streams that are under way at once. */
  requests: 32,
  /** Streams whose heads are remembered. */
  heads: 20_000,
  /** Where in JetStream's stream appends stand, remembered for reads that go on there. */
  spots: 1_024,
  /** Of appends that were heard and may be read by followers here. */
  heardBytes: 16 << 20,
  heardMessages: 4_096,
  /** Without any news followers look this often. */
  lookMs: 1_000,
  /** Room in a message for its headers. */
  headerBytes: 64 << 10,
  /** A task's input may be 2 MiB, which is 2.8 as base64. */
  leastPayload: 4 << 20,
  /** A lost member ends all its jobs by one append, a message for each. */
  wantedBatch: 10_000,
  /** Of a stream's name as a subject: the server reads no longer line than 4 KiB. */
  subjectBytes: 1_024,
  /** Pieces of snapshots that nobody finished are deleted after so long. */
  abandonedMs: 24 * 3_600_000,
  /** What is under way may take so long to end when the store closes. */
  closeMs: 1_500,
} as const;
