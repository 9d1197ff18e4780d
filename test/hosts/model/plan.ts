/**
 * The answer of the model on loopback, chosen by a mark in the last prompt:
 *
 *   [[sh CMD]]        a call of the program's shell tool, then "Done: …" when its result comes
 *   [[esc CMD]]       the same, asking to leave the sandbox (this is what Codex asks about)
 *   [[sh2 CMD;;CMD]]  several shell calls in one answer
 *   [[write PATH]]    a call of its tool that writes a file
 *   [[ask]]           a call of its tool that asks the person
 *   [[todo]]          a call of its to-do tool, with one item open
 *   [[sub PROMPT]]    a call of its subagent tool; marks of that prompt are written << >>
 *   [[slow N WORD]]   text for N seconds, WORD0 WORD1 …, one each half second
 *   [[q]]             text that ends with a question
 *   [[fail]]          HTTP 400
 *   [[flaky N WORD]]  HTTP 500 the first time, then as [[slow N WORD]]: programs try again
 *   anything else     a greeting
 */

export interface Tool {
  readonly name: string;
  readonly namespace?: string;
  /** The names of its parameters, with their JSON types. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface Call extends Pick<Tool, "name" | "namespace"> {
  readonly input: Readonly<Record<string, unknown>>;
}

export type Answer =
  | { readonly kind: "text"; readonly words: readonly string[]; readonly pauseMs: number }
  | { readonly kind: "calls"; readonly calls: readonly Call[] }
  | { readonly kind: "failure"; readonly status: number };

export interface Turn {
  readonly prompt: string;
  readonly tools: readonly Tool[];
  /** How many results of tools came since that prompt. */
  readonly results: number;
}

const NAMES: Readonly<Record<string, readonly string[]>> = {
  sh: ["Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command"],
  write: ["Write", "write", "write_file", "create_file", "create"],
  ask: ["AskUserQuestion", "question", "request_user_input", "ask_user", "ask_user_question"],
  todo: ["TodoWrite", "todowrite", "todo_write", "write_todos", "update_plan"],
  sub: ["Agent", "Task", "task", "agent", "spawn_agent", "invoke_agent"],
};

const MARK = /\[\[(?<word>\w+)(?:\s+(?<value>[^]*?))?\]\]/g;

/** Keeps the prompts that were answered with a failure once. */
export function answerTo({ prompt, tools, results }: Turn, failed: Set<string>): Answer {
  // Programs may join prompts that were left unanswered: the last mark counts.
  const { word = "", value = "" } = [...prompt.matchAll(MARK)].at(-1)?.groups ?? {};
  // Programs ask for a title of the session too, and offer no tools for that.
  if (word === "slow") return tools.length === 0 ? text("A title") : slowly(value);
  if (word === "fail") return { kind: "failure", status: 400 };
  if (word === "flaky" && failed.has(prompt)) return slowly(value);
  if (word === "flaky") {
    failed.add(prompt);
    return { kind: "failure", status: 500 };
  }
  if (word === "q") return text("I looked at it. Shall I drop the table?");
  if (word === "") return text("Hello from the model.");
  if (results > 0) return text("Done: the tool has run.");
  const kind = word === "esc" || word === "sh2" ? "sh" : word;
  const tool = tools.find(({ name }) => NAMES[kind]?.includes(name));
  if (!tool) return text(`There is no tool for ${word}: ${tools.map((each) => each.name).join()}`);
  const values = word === "sh2" ? value.split(";;") : [value];
  const { name, namespace } = tool;
  const calls = values.map((each) => ({
    name,
    input: inputOf(word, tool, each),
    ...(namespace !== undefined && { namespace }),
  }));
  return { kind: "calls", calls };
}

function text(words: string): Answer {
  return { kind: "text", words: [words], pauseMs: 0 };
}

const PAUSE_MS = 500;

function slowly(value: string): Answer {
  const [seconds, word = "word"] = value.split(" ");
  const length = (Number(seconds) * 1000) / PAUSE_MS;
  const words = Array.from({ length }, (_, i) => `${word}${i} `);
  return { kind: "text", words, pauseMs: PAUSE_MS };
}

function inputOf(word: string, tool: Tool, value: string): Call["input"] {
  const { parameters } = tool;
  switch (word) {
    case "write": {
      const body = known(parameters, ["file_text"]) ?? "content";
      return { [known(parameters, PATHS) ?? "path"]: value, [body]: "hello\n" };
    }
    case "ask":
      return "requestedSchema" in parameters ? FORM : { questions: [QUESTION] };
    case "todo":
      return "plan" in parameters ? { plan: [STEP] } : { todos: [ITEM] };
    case "sub":
      return subagent(tool, value.replaceAll("<<", "[[").replaceAll(">>", "]]"));
    case "esc":
      return { ...command(parameters, value), ...ESCALATED };
    default:
      return command(parameters, value);
  }
}

const PATHS = ["file_path", "filePath", "path", "absolute_path"];

function known(parameters: Tool["parameters"], names: readonly string[]): string | undefined {
  return names.find((name) => name in parameters);
}

function command(parameters: Tool["parameters"], line: string): Call["input"] {
  return {
    [known(parameters, ["cmd"]) ?? "command"]: line,
    ...("description" in parameters && { description: "run a command" }),
    ...("is_background" in parameters && { is_background: false }),
  };
}

const ESCALATED = {
  sandbox_permissions: "require_escalated",
  justification: "May I run this outside the sandbox?",
};

const QUESTION = {
  id: "color",
  type: "choice",
  question: "Which color should the button be?",
  header: "Color",
  multiSelect: false,
  multiple: false,
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cool" },
  ],
};

/** The same for programs that ask by a form. */
const FORM = {
  message: QUESTION.question,
  requestedSchema: {
    type: "object",
    properties: {
      color: { type: "string", title: QUESTION.header, enum: ["Red", "Blue"] },
    },
    required: ["color"],
  },
};

const STEP = { step: "First step", status: "in_progress" };
const ITEM = { id: "1", content: "First step", status: "in_progress", priority: "high" };

function subagent({ name, parameters }: Tool, prompt: string): Call["input"] {
  const kinds = (parameters["subagent_type"] as { enum?: readonly string[] } | undefined)?.enum;
  const isClaude = /^[A-Z]/u.test(name) || "run_in_background" in parameters;
  const subagent_type = kinds?.[0] ?? (isClaude ? "general-purpose" : "general");
  if ("agent_name" in parameters) return { agent_name: "generalist", prompt };
  if ("agent_type" in parameters) {
    return { description: "sub work", prompt, agent_type: "general-purpose", name: "helper" };
  }
  return { description: "sub work", prompt, message: prompt, subagent_type };
}
