/** The bounds of this wire, each with its reason. */

const MIB = 1024 * 1024;

export const KEEPER = {
  /** What `Find` gives when nobody says how many; the SDK asks for as many. */
  findDefault: 10,
  findMost: 1_000,
  /** What an answer may weigh: gRPC clients refuse messages of more than 4 MiB. */
  answerBytes: 4 * MIB - 64 * 1024,
} as const;
