/** Hooks that are old, in part or not trusted, and programs that send something unknown to us. */
import type { CodingAgent } from "../../coding-agents/adapter.ts";
import { CODING_AGENTS } from "../../coding-agents/agents.ts";
import { SURPRISE } from "../../coding-agents/hooks/limits.ts";
import { surprises } from "../../coding-agents/hooks/surprises.ts";
import { sceneOf } from "../plans.ts";
import { ok, problemText, warn, type Finding, type DoctorScene } from "./finding.ts";

export function checkCodingAgents({ env, nowMs }: DoctorScene): Promise<readonly Finding[]> {
  const installed = CODING_AGENTS.flatMap((agent) => standingOf(agent, env));
  const recent = surprises(env).filter(({ atMs }) => nowMs - atMs < SURPRISE.toldMs);
  const strange = recent.map(({ host, what, version }) => {
    const title = CODING_AGENTS.find(({ name }) => name === host)?.title ?? host;
    const program = version === undefined ? title : `${title} ${version}`;
    return warn("hooks", `${program} sends something we do not know: ${what}`, UPDATE);
  });
  return Promise.resolve([...installed, ...strange]);
}

const UPDATE = "update rollcall; until then its state may be incomplete";

/** Nothing of those that are not installed: nobody asked for them. */
function standingOf(agent: CodingAgent, env: DoctorScene["env"]): readonly Finding[] {
  const again = `rollcall hooks install ${agent.name}`;
  try {
    const { state, details, warnings } = agent.install.standing(sceneOf({ env }, undefined));
    const title = `${agent.title}'s`;
    const troubles = warnings.map((each) => warn("hooks", `${title}: ${each}`, NEXT));
    switch (state) {
      case "absent":
        return troubles;
      case "installed":
        return troubles.length > 0 ? troubles : [ok("hooks", `${title} are installed`)];
      case "outdated":
        return [warn("hooks", `${title} are of another installation`, again), ...troubles];
      case "partly":
        return [warn("hooks", `${title} are installed in part: ${details}`, again), ...troubles];
    }
  } catch (error) {
    return [warn("hooks", problemText(error), again)];
  }
}

const NEXT = "see rollcall hooks status";
