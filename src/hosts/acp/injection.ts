export const INJECTIONS = ["off", "meta", "ext", "variant", "auto"] as const;

export type Injection = (typeof INJECTIONS)[number];
