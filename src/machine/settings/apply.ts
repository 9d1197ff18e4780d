/**
 * Carries a plan out: what was there is kept beside it, and the new text takes its place in one
 * step. A link stays a link: settings often lie in another folder.
 */
import * as fs from "node:fs";
import { RollcallError } from "../../core/errors.ts";
import { replaceFile } from "../replace-file.ts";
import { systemError } from "../system-error.ts";
import { readIfThere, type Plan } from "./installer.ts";

/** Where the text from before lies now, if there was one worth keeping. */
export function apply(plan: Plan): string | undefined {
  if (plan.before === plan.after) return undefined;
  if (readIfThere(plan.path) !== plan.before) {
    const message = `${plan.path} was changed meanwhile, and is left as it is: try again`;
    throw new RollcallError("WRONG_STATE", message);
  }
  try {
    return change(plan);
  } catch (error) {
    const { code, message } = systemError(`write ${plan.path}`, error);
    const fix = "run it as the owner of that folder, or set HOME to a folder of this user";
    throw new RollcallError(code, `${message}; ${fix}`, { cause: error });
  }
}

function change({ path, before, after, isOurs, hadOurs }: Plan): string | undefined {
  const target = fs.existsSync(path) ? fs.realpathSync(path) : path;
  const backup = `${target}.before-rollcall`;
  const mode = fs.statSync(target, { throwIfNoEntry: false })?.mode ?? 0o600;
  const isKept = before !== undefined && !isOurs && !(hadOurs && fs.existsSync(backup));
  if (isKept) replaceFile(backup, before, mode);
  if (after === undefined) fs.rmSync(target, { force: true });
  else replaceFile(target, after, mode);
  return isKept ? backup : undefined;
}
