/** The program behind `rollcall acp -- COMMAND…`; see bin/rollcall.ts. */
import { runProxy } from "../cli/acp/run.ts";

void runProxy(process.argv.slice(3));
