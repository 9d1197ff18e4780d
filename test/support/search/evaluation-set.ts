/**
 * What Find is judged by: agents as people describe theirs, many of them near neighbours, and for
 * each one query in the words of its card and paraphrases that share no content word with it.
 *
 * All agents are searched together. Weights may be chosen by the queries of the first half only;
 * the second half judges. The halves are files of lines:
 *
 *   NAME | DESCRIPTION | TOOLS        a line that begins with two spaces goes on
 *   ? a query in the words of the card
 *   ~ a paraphrase
 */
import { DEVELOPMENT } from "./evaluation/development.ts";
import { HELD_OUT } from "./evaluation/held-out.ts";

export interface Example {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly string[];
  readonly query: string;
  readonly paraphrases: readonly string[];
}

function parsed(text: string): readonly Example[] {
  const lines = text.trim().replaceAll("\n  ", " ").split("\n");
  const starts = lines.flatMap((line, i) => (/^[?~] /.test(line) ? [] : i));
  return starts.map((start, i) => {
    const [head = "", ...rest] = lines.slice(start, starts[i + 1]);
    const [name = "", description = "", tools = ""] = head.split(" | ");
    const said = (mark: string) =>
      rest.flatMap((line) => (line.startsWith(mark) ? line.slice(2) : []));
    const [query = ""] = said("? ");
    return { name, description, tools: tools.split(" "), query, paraphrases: said("~ ") };
  });
}

export const DEVELOPED = parsed(DEVELOPMENT);
export const JUDGING = parsed(HELD_OUT);
export const EXAMPLES = [...DEVELOPED, ...JUDGING];
