/** The program behind `agent-status`: status files, with the flags that its users know. */
import { agentStatus } from "../cli/status/agent-status.ts";

void agentStatus(process.argv.slice(2));
