/** Whether a server that may lose what it acknowledged is refused, or used with a warning. */
export const DURABILITIES = ["strict", "trust"] as const;

export type Durability = (typeof DURABILITIES)[number];
