/** The program beside a session. Hooks start it, and borrow its hands where it cannot run. */
import { basename } from "node:path";
import { sidecar } from "../coding-agents/hooks/sidecar.ts";

export { recordOf } from "../coding-agents/hooks/record.ts";

const [, program = "", ...words] = process.argv;
if (basename(program) === "sidecar.js") sidecar(words);
