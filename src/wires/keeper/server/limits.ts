/** The bounds of this wire, each with its reason. */
import { FIELD } from "../../../core/limits.ts";
import { KIB, MIB } from "../../../core/units.ts";

export const KEEPER = {
  /** The results of a `Find` without a limit; the SDK asks for as many. */
  findDefault: 10,
  findMost: 1_000,
  /** The size of an answer: gRPC clients refuse messages of more than 4 MiB. */
  answerBytes: 4 * MIB - 64 * KIB,
  /** The size of messages to the methods that take much: the largest field and the rest. */
  registerBytes: 4 * FIELD.cardLength,
  createTaskBytes: FIELD.taskInputBytes + 512 * KIB,
  completeTaskBytes: FIELD.taskOutputBytes + 64 * KIB,
} as const;
