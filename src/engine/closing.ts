/** What whoever asks is told while this node closes: another one may answer, or this one later. */
import { RollcallError } from "../core/errors.ts";

export function closing(): RollcallError {
  return new RollcallError("UNAVAILABLE", "this node is closing");
}
