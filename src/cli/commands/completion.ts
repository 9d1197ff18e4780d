/**
 * `rollcall completion SHELL`: the script that makes a shell complete our commands. It only asks
 * `rollcall __complete`, so it never goes out of date.
 */
import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { choiceArgument } from "../flags.ts";
import { about } from "../help.ts";

/**
 * Bash breaks words at = and : too, which addresses and --flag=value are full of. So the line is
 * split at blanks here, and what bash takes for words already done is cut off the proposals.
 */
const BASH = String.raw`# Load it with: source <(rollcall completion bash)
_rollcall() {
  local line=\${COMP_LINE:0:COMP_POINT} current= flag= words proposals
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]}-1]}
  if [[ $current == --*=* ]]; then
    flag=\${current%%=*}
    words[\${#words[@]}-1]=$flag
    words+=("\${current#*=}")
    current=\${current#*=}
  fi
  mapfile -t proposals < <(rollcall __complete -- "\${words[@]:1}" 2>/dev/null | cut -f1)
  local skip=\${current%"\${current##*[=:]}"} proposal
  COMPREPLY=()
  for proposal in "\${proposals[@]}"; do COMPREPLY+=("\${proposal#"$skip"}"); done
}
complete -o default -F _rollcall rollcall`;

const ZSH = String.raw`#compdef rollcall
# Load it with: source <(rollcall completion zsh)
_rollcall() {
  local -a proposals
  local line
  for line in "\${(@f)$(rollcall __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && proposals+=("\${\${line%%$'\t'*}//:/\\:}:\${line#*$'\t'}")
  done
  if (( \${#proposals} )); then _describe rollcall proposals; else _files; fi
}
if [[ $funcstack[1] == _rollcall ]]; then _rollcall "$@"; else compdef _rollcall rollcall; fi`;

const FISH = String.raw`# Load it with: rollcall completion fish | source
function __rollcall_complete
  set -l words (commandline -opc)
  rollcall __complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c rollcall -a '(__rollcall_complete)'`;

/** A template would read the shells' own \${…}, so those are written with a backslash. */
const SCRIPTS = {
  bash: BASH.replaceAll("\\${", "${"),
  zsh: ZSH.replaceAll("\\${", "${"),
  fish: FISH,
};

const SHELLS = ["bash", "zsh", "fish"] as const;

type Shell = (typeof SHELLS)[number];

export const completion = buildCommand<NonNullable<unknown>, [Shell], Context>({
  docs: about(
    "Print the script that makes a shell complete commands, flags and their values.",
    { call: "source <(rollcall completion bash)", does: "in ~/.bashrc" },
    { call: "source <(rollcall completion zsh)", does: "in ~/.zshrc, after compinit" },
    { call: "rollcall completion fish | source", does: "in ~/.config/fish/config.fish" },
  ),
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [choiceArgument("SHELL", SHELLS)],
    },
  },
  async func(_flags, shell) {
    await this.out.line(SCRIPTS[shell]);
  },
});
