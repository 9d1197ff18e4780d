/**
 * The program beside a session. Hooks start it, and borrow its hands where it cannot run. Built as
 * CommonJS: a hook that starts from kept code can load nothing else.
 */
import { basename } from "node:path";
import { sidecar } from "../coding-agents/hooks/sidecar.ts";

export { recordOf } from "../coding-agents/hooks/record.ts";

const [, program = "", ...words] = process.argv;
if (basename(program) === "sidecar.cjs") sidecar(words);
