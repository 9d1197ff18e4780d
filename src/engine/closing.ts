/** The error for callers while this node closes: they may retry, here later or on another node. */
import { RollcallError } from "../core/errors.ts";

export function closing(): RollcallError {
  return new RollcallError("UNAVAILABLE", "this node is closing");
}
