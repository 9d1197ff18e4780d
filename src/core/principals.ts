/**
 * A principal: the caller, as the doors know it. A call has exactly one, and every command and
 * every read is done in its name.
 */
export type PrincipalKind = "person" | "service" | "agent";

/** From the one that may least to the one that may most; an outpost speaks for its host alone. */
export const ROLES = ["viewer", "agent", "outpost", "operator", "admin"] as const;

export type Role = (typeof ROLES)[number];

export interface Principal {
  readonly name: string;
  readonly kind: PrincipalKind;
  /** The tenant that it belongs to. There is one so far. */
  readonly namespace: string;
  readonly roles: readonly Role[];
  /** The only one that an outpost may report on. */
  readonly host?: string;
}

/** Whether both are the same caller and may do the same: a name alone can be given anew. */
export function isSamePrincipal(a: Principal, b: Principal): boolean {
  const isSameRoles =
    a.roles.length === b.roles.length && a.roles.every((role) => b.roles.includes(role));
  return a.name === b.name && a.namespace === b.namespace && a.host === b.host && isSameRoles;
}

/** Callers by a name of theirs, and the role that the operator gave them. */
export interface InRole {
  readonly name: string;
  readonly role: Role;
}

export const DEFAULT_NAMESPACE = "default";

/** The user that runs the daemon. All that was registered before principals is this one's. */
export const LOCAL: Principal = {
  name: "local",
  kind: "person",
  namespace: DEFAULT_NAMESPACE,
  roles: ["admin"],
};

const NETWORK = "net:";

/** The principal of all callers from a trusted network. */
export function networkNamed(range: string, role: Role): Principal {
  const name = NETWORK + range;
  return { name, kind: "service", namespace: DEFAULT_NAMESPACE, roles: [role] };
}

export function isNetwork({ name }: Pick<Principal, "name">): boolean {
  return name.startsWith(NETWORK);
}

/** May do nothing. */
export const NOBODY: Principal = { ...LOCAL, name: "nobody", roles: [] };
