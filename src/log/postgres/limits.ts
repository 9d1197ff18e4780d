/** The numbers of the Postgres store, each with its reason. */

export const POSTGRES = {
  /** For reads, snapshots and forgetting; appends have a connection of their own. */
  readConnections: 4,
  /** Calls that wait for one of these. */
  waitingReads: 10_000,
  /** To one server: the next one of the URL should be tried before a member is given up. */
  connectMs: 3_000,
  /** Of one statement of ours, and of its wait for a lock; the server ends it. */
  statementMs: 5_000,
  lockMs: 2_000,
  /** The same seen from here, where the server does not answer at all. */
  answerMs: 8_000,
  /** A connection that nobody used for so long may be to a host that is gone: it is asked first, */
  idleMs: 2_000,
  /** and must answer within this; a new one is made sooner than the other limits are over. */
  idleAnswerMs: 500,
  /** Nothing was heard for so long: the system asks the host by itself, and cuts 10 s later. */
  keepAliveMs: 10_000,
  /** How long a read goes on trying while the server restarts. */
  readWithinMs: 5_000,
  /** A page of a read: at least one append, and no more after so many bytes or rows. */
  pageBytes: 1 << 20,
  pageRows: 4_096,
  /** Streams in one page of a listing. */
  listRows: 1_000,
  /** Rows that one statement deletes, so that it holds nobody up. */
  deleteRows: 5_000,
  /** Deleting so many of them is as much work as the rows above. */
  deleteChunks: 32,
  /** Without a notification followers look this often; where none arrive at all, that often. */
  lookMs: 1_000,
  lookAloneMs: 250,
  /** So many looks that find what no notification told of, and those do not arrive any more. */
  unheardLooks: 2,
  /** Within which our own notification must come back. */
  echoMs: 1_000,
  /** Between the two looks at a server that is then refused. */
  secondLookMs: 300,
  /** Appends under way may take so long to end when the store closes. */
  closeMs: 1_500,
} as const;
