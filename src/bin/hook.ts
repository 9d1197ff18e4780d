/** The program behind `rollcall hook HOST`; see bin/rollcall.ts. */
import { hook } from "../coding-agents/hooks/hook.ts";

const [, host = ""] = process.argv.slice(2);
void hook(host);
