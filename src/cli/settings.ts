/**
 * The daemon's settings as flags of a command. The table of settings is the daemon's: what it gets
 * tomorrow is a flag, with its help, without a word here.
 */
import type { FlagParametersForType, TypedFlagParameter } from "@stricli/core";
import { SETTING_HEADINGS, SETTINGS, type Setting } from "../daemon/settings.ts";
import type { Context } from "./context.ts";
import { camel, kebab, type FlagHeading } from "./help.ts";

export type SettingFlags = Readonly<Record<string, string | boolean | undefined>>;

type Parameter = FlagHeading &
  (TypedFlagParameter<string | undefined> | TypedFlagParameter<boolean | undefined>);

/**
 * All settings, with older names that work and are not shown; or those flags alone that are named,
 * with what each is when it is not given.
 */
export function settingFlags(
  only?: Readonly<Record<string, string>>,
): FlagParametersForType<SettingFlags, Context> {
  const flags: Record<string, Parameter> = {};
  for (const setting of SETTINGS) {
    const names = [setting.flag, ...setting.aliases.map(({ flag }) => flag)];
    for (const name of names) {
      if (only === undefined) {
        const heading = SETTING_HEADINGS[setting.name];
        flags[camel(name)] = { ...parameter(setting, name !== setting.flag), heading };
      } else if (name in only) flags[camel(name)] = parameter(renamed(setting, only[name]), false);
    }
  }
  // The parser's types know each flag by its name; these have theirs from a table.
  return flags as FlagParametersForType<SettingFlags, Context>;
}

function renamed(setting: Setting, usual = ""): Setting {
  return { ...setting, aliases: [], default: usual };
}

function parameter(setting: Setting, hidden: boolean): Parameter {
  const isOn = setting.default === "true";
  if (setting.kind === "switch") {
    return { kind: "boolean", optional: true, withNegated: isOn, brief: briefOf(setting), hidden };
  }
  return {
    kind: "parsed",
    optional: true,
    parse: String,
    placeholder: setting.placeholder,
    brief: briefOf(setting),
    hidden,
  };
}

function briefOf({ help, kind, default: usual, aliases }: Setting): string {
  const text = help.charAt(0).toUpperCase() + help.slice(1);
  const also = aliases.map(({ flag }) => `also --${flag}`).join(", ");
  const fallback = kind === "switch" ? "" : usual;
  return [text, also && `(${also})`, fallback && `[${fallback}]`].filter(Boolean).join(" ");
}

/** As the daemon reads them: by the names of its table, as text. */
export function spokenFlags(flags: SettingFlags): Record<string, string> {
  const spoken: Record<string, string> = {};
  for (const [name, value] of Object.entries(flags)) {
    if (value !== undefined) spoken[kebab(name)] = String(value);
  }
  return spoken;
}
