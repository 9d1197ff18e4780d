/**
 * Which ports a stranger's URL may name: those of the web, and those that anybody may open. Below
 * 1024 live services that take a request line for a command (mail, telnet); a few of those above do
 * so, too, and browsers refuse them as well.
 */
const OTHERS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080, 11211,
]);

export function portOf(url: URL): number | undefined {
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (port === 80 || port === 443) return port;
  return port >= 1024 && !OTHERS.has(port) ? port : undefined;
}
