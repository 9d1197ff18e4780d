/**
 * The command line of `agent-status`, read the way its users know it, which is Python's argparse:
 * flags may be shortened, a value may be a negative number but not look like a flag, and the same
 * mistakes get the same sentences. Built anew because the parser of `rollcall` has other rules, and
 * because this program starts for every step of an agent.
 */
import { invalidArgument, RollcallError } from "../../core/errors.ts";

export interface Option {
  /** "--agent-id" */
  readonly flag: string;
  readonly kind: "text" | "integer" | "number" | "many" | "switch" | "toggle";
  readonly choices?: readonly string[];
  readonly isRequired?: boolean;
  /** The name of its value in the help of `rollcall`. */
  readonly placeholder?: string;
  readonly help: string;
}

export interface Syntax {
  /** "agent-status emit" */
  readonly program: string;
  readonly about: string;
  readonly options: readonly Option[];
  /** The one word that is no flag. */
  readonly word?: string;
}

export type ArgumentValue = string | number | boolean | readonly string[];

export interface Arguments {
  readonly kind: "arguments";
  /** By flag, as far as they were given; the one word by its name. */
  readonly values: ReadonlyMap<string, ArgumentValue>;
  /** Words beyond the positional arguments. */
  readonly extras: readonly string[];
}

export type ParseResult =
  | Arguments
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problem: string };

const HELP: Option = { flag: "--help", kind: "switch", help: "show this" };
const NEGATIVE = /^-(?:\d+|\d*\.\d+)$/;

export function parseArguments(syntax: Syntax, argv: readonly string[]): ParseResult {
  try {
    return new Parser(syntax).parse(argv);
  } catch (error) {
    if (error instanceof RollcallError) return { kind: "wrong", problem: error.message };
    throw error;
  }
}

interface GivenFlag {
  readonly option: Option;
  /** As it is called in full: a toggle has two names. */
  readonly name: string;
  /** The text after its equals sign. */
  readonly attached: string | undefined;
}

class Parser {
  readonly #syntax: Syntax;
  readonly #options: ReadonlyMap<string, Option>;
  readonly #values = new Map<string, ArgumentValue>();
  readonly #extras: string[] = [];

  constructor(syntax: Syntax) {
    this.#syntax = syntax;
    this.#options = new Map(
      [HELP, ...syntax.options].flatMap((option) =>
        flagNames(option).map((name) => [name, option] as const),
      ),
    );
  }

  parse(argv: readonly string[]): ParseResult {
    const end = argv.indexOf("--");
    const limit = end === -1 ? argv.length : end;
    for (let at = 0; at < limit; at += 1) {
      const item = argv[at] ?? "";
      const flag = this.#flag(item);
      if (flag === "unknown") {
        this.#extras.push(item);
      } else if (flag === undefined) {
        this.#word(item);
      } else if (flag.option === HELP) {
        return { kind: "help" };
      } else {
        const next = at + 1 < limit ? argv[at + 1] : undefined;
        if (this.#take(flag, next) === "next") at += 1;
      }
    }
    for (const item of argv.slice(limit + 1)) this.#word(item);
    this.#require();
    return { kind: "arguments", values: this.#values, extras: this.#extras };
  }

  /** The flag that this is; nothing when it is a word or a value. */
  #flag(item: string): GivenFlag | "unknown" | undefined {
    if (!item.startsWith("-") || item === "-") return undefined;
    if (item === "-h") return { option: HELP, name: "--help", attached: undefined };
    const equals = item.indexOf("=");
    const typed = equals === -1 ? item : item.slice(0, equals);
    const attached = equals === -1 ? undefined : item.slice(equals + 1);
    const exact = this.#options.get(typed);
    if (exact) return { option: exact, name: typed, attached };
    if (typed.startsWith("--")) {
      const [first, ...others] = [...this.#options].filter(([name]) => name.startsWith(typed));
      if (first && others.length > 0) {
        const matches = [first, ...others].map(([name]) => name).join(", ");
        throw invalidArgument(`ambiguous option: ${item} could match ${matches}`);
      }
      if (first) return { option: first[1], name: first[0], attached };
    }
    return NEGATIVE.test(item) || item.includes(" ") ? undefined : "unknown";
  }

  #take({ option, name, attached }: GivenFlag, next: string | undefined): "next" | "nothing" {
    const called = flagNames(option).join("/");
    if (option.kind === "switch" || option.kind === "toggle") {
      if (attached !== undefined) {
        throw invalidArgument(`argument ${called}: ignored explicit argument ${quote(attached)}`);
      }
      this.#values.set(option.flag, name === option.flag);
      return "nothing";
    }
    const given = attached ?? (next !== undefined && !this.#flag(next) ? next : undefined);
    if (given === undefined) throw invalidArgument(`argument ${called}: expected one argument`);
    this.#values.set(option.flag, this.#value(option, given));
    return attached === undefined ? "next" : "nothing";
  }

  #value(option: Option, text: string): ArgumentValue {
    const { flag, kind, choices } = option;
    if (choices && !choices.includes(text)) {
      throw invalidArgument(`argument ${flag}: ${invalidChoice(text, choices)}`);
    }
    if (kind === "many") return [...((this.#values.get(flag) as string[] | undefined) ?? []), text];
    if (kind === "text") return text;
    const number = kind === "integer" ? integerOf(text) : numberOf(text);
    if (number !== undefined) return number;
    const type = kind === "integer" ? "int" : "float";
    throw invalidArgument(`argument ${flag}: invalid ${type} value: ${quote(text)}`);
  }

  #word(item: string): void {
    const { word } = this.#syntax;
    if (word === undefined || this.#values.has(word)) this.#extras.push(item);
    else this.#values.set(word, item);
  }

  #require(): void {
    const { options, word } = this.#syntax;
    const required = options.filter((option) => option.isRequired).map(({ flag }) => flag);
    const missing = [...required, ...(word === undefined ? [] : [word])].filter(
      (name) => !this.#values.has(name),
    );
    if (missing.length > 0) {
      throw invalidArgument(`the following arguments are required: ${missing.join(", ")}`);
    }
  }
}

export function flagNames({ flag, kind }: Option): readonly string[] {
  return kind === "toggle" ? [flag, flag.replace("--", "--no-")] : [flag];
}

export function invalidChoice(text: string, choices: readonly string[]): string {
  return `invalid choice: ${quote(text)} (choose from ${choices.map(quote).join(", ")})`;
}

function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return mark + (mark === "'" ? inside.replaceAll("'", "\\'") : inside) + mark;
}

/** "12", " +12", "1_000": what Python takes for a whole number, as far as it is exact. */
export function integerOf(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^[+-]?\d+(?:_\d+)*$/.test(trimmed)) return undefined;
  const number = Number(trimmed.replaceAll("_", ""));
  return Number.isSafeInteger(number) ? number : undefined;
}

export function numberOf(text: string): number | undefined {
  const number = Number(text.trim().replaceAll(/(?<=\d)_(?=\d)/g, ""));
  return text.trim() !== "" && Number.isFinite(number) ? number : undefined;
}
