/** Flags that several commands have, each defined once. */

export const jsonFlag = {
  kind: "boolean",
  optional: true,
  withNegated: false,
  brief: "JSON, for programs",
} as const;

export interface DaemonFlags {
  readonly url?: string;
}

/** Of every command that talks to a daemon. */
export const daemonFlags = {
  url: {
    kind: "parsed",
    optional: true,
    parse: String,
    placeholder: "URL",
    brief: "Where the daemon is [ROLLCALL_URL, or http://127.0.0.1:9090]",
  },
} as const;
