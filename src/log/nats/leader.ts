/** The server that leads a stream, and a connection to it. */
import { connect, type Connection, type Login } from "./driver.ts";
import { NotSent } from "./failure.ts";
import { infoOf } from "./layout.ts";

/** Its name; rejects with `NotSent` while there is none. */
export async function leaderOf(connection: Connection, stream: string): Promise<string> {
  const info = await infoOf(connection, stream);
  const leader = info?.cluster ? info.cluster.leader : connection.facts.name;
  if (leader === undefined) throw new NotSent("no server leads the stream");
  return leader;
}

/** Nothing when no server of the URL has this name. */
export async function connectTo(name: string, login: Login): Promise<Connection | undefined> {
  for (const server of login.url.servers) {
    const connection = await connect(login, server);
    if (connection.facts.name === name) return connection;
    await connection.close();
  }
  return undefined;
}
