/** Heartbeats that are wrong (or odd, yet right), and cards, for both sides to judge. */

const CARD = '{"name":"x","url":"http://u.example"}';

function card(fields: string): string {
  return `{"agent_card":{"name":"x","url":"http://u.example",${fields}}}`;
}

function interval(text: string): string {
  return `{"agent_card":${CARD},"interval":${text}}`;
}

export const BODIES: readonly string[] = [
  "",
  "{",
  "[]",
  "null",
  '"x"',
  "{}",
  "tru",
  "[1",
  '{"a":1,}',
  '{"a":1} x',
  '{"a" 1}',
  '{"a":"\u0001"}',
  '{"a":"b',
  '{"a":1 "b":2}',
  "{1}",
  "[,]",
  '{"a":}',
  "01",
  ...["null", "[]", '"{}"', "{}", "5"].map((text) => `{"agent_card":${text}}`),
  '{"agent_card":{"name":"x"}}',
  '{"agent_card":{"name":null,"url":"u"}}',
  '{"agent_card":{"name":1,"url":"u"}}',
  '{"agent_card":{"name":"x","url":5}}',
  '{"agent_card":{"name":"x","supportedInterfaces":[]}}',
  '{"agent_card":{"name":"x","supportedInterfaces":[{}]}}',
  '{"agent_card":{"name":"x","supportedInterfaces":[3]}}',
  '{"agent_card":{"name":"x","supportedInterfaces":[{"url":"i","tenant":3}]}}',
  '{"agent_card":{"name":"x","url":"","supportedInterfaces":[{"url":"i"}]}}',
  '{"agent_card":{},"interval":0}',
  ...["0", "-1", '"5"', '"abc"', "1.5", "2.0", "true", "false", "null", "[]"].map(interval),
  ...['"2.0"', '" 7 "', '"1_000"', '"1e3"', '""', "99999999999999999999", "1e2"].map(interval),
  card('"supportedInterfaces":5'),
  card('"capabilities":null,"skills":null,"version":null,"defaultInputModes":null'),
  card('"capabilities":{"streaming":"yes","pushNotifications":"maybe"}'),
  card('"capabilities":{"stateTransitionHistory":null,"extendedAgentCard":2}'),
  card('"capabilities":{"streaming":1,"pushNotifications":0.0,"extendedAgentCard":[]}'),
  card('"skills":[{"id":1},{"id":"a","name":"b","tags":[1],"examples":"x"}]'),
  card('"version":1,"defaultInputModes":[3],"provider":{"url":"x"}'),
  card('"securitySchemes":[],"security":{},"securityRequirements":[5]'),
  card('"description":4,"documentationUrl":[],"preferredTransport":0,"protocolVersion":1.0'),
  card('"iconUrl":{},"provider":"x","skills":{}'),
  card('"name":"y"'),
];

export const CARDS: readonly string[] = [
  CARD,
  '{"name":"t","url":"http://g.example","preferredTransport":"GRPC"}',
  '{"name":"t","url":"http://g.example","preferredTransport":"http"}',
  '{"name":"t","url":"http://g.example","preferredTransport":"HTTP+JSON"}',
  '{"name":"t","url":"http://g.example","supportedInterfaces":[]}',
  '{"supportedInterfaces":[{"x":1,"url":"http://i.example"},{"url":"j"}],"name":"y"}',
  '{"name":"both","url":"http://b.example","supportedInterfaces":[{"url":"http://i.example"}]}',
  '{"name":"t","url":"","supportedInterfaces":[{"url":"http://i.example"}]}',
  '{"zeta":2.5,"name":"é😀","url":"http://u.example","alpha":{"b":[1,null],"a":"x"},"zeta":3}',
  '{"name":"s","url":"http://u.example","skills":[{"name":"n","id":"i","tags":["t"]}]}',
  '{"name":"c","url":"http://u.example","capabilities":{"streaming":"on"},"version":"2"}',
  '{"name":"p","url":"http://u.example","provider":{"organization":"o"},"security":[{"a":[]}]}',
  '{"name":"n","url":"http://u.example","big":123456789012345678901234567890,"f":1.0}',
];
