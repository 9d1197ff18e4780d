/** An A2A agent card as programs hold it: a plain object, with whatever else its author wants. */

export interface A2aCard {
  readonly name: string;
  readonly description?: string | null;
  /** v0.3: where the agent is. */
  readonly url?: string | null;
  /** v1.0: the same, with what is spoken there. */
  readonly supportedInterfaces?: readonly AgentInterface[] | null;
  readonly version?: string;
  readonly skills?: readonly AgentSkill[];
  readonly [field: string]: unknown;
}

export interface AgentInterface {
  readonly url: string;
  readonly protocolBinding?: string | null;
  readonly protocolVersion?: string | null;
  readonly tenant?: string | null;
  readonly [field: string]: unknown;
}

export interface AgentSkill {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
  readonly tags?: readonly string[] | null;
  readonly [field: string]: unknown;
}
