/**
 * The network of a Compose file: a machine for each service (a network namespace), all on one
 * switch, each known to the others by its name. They are gone when the test is over.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { hold, Machine } from "./machines.ts";

/** With a table of hosts of its own. */
class NamedMachine extends Machine {
  override words(command: string, args: readonly string[]): readonly string[] {
    return ["--target", String(this.pid), "--net", "--mount", command, ...args];
  }
}

export interface Network extends Disposable {
  of(name: string): Machine;
}

/** Needs root. The table of hosts is kept in the folder. */
export async function network(names: readonly string[], folder: string): Promise<Network> {
  const middle = new Machine(await hold("unshare", ["--net"]), "10.78.0.1");
  const machines = new Map<string, Machine>();
  const hosts = join(folder, "hosts");
  const addressOf = (index: number) => `10.78.0.${10 + index}`;
  const lines = names.map((name, index) => `${addressOf(index)} ${name}`);
  writeFileSync(hosts, ["127.0.0.1 localhost", ...lines, ""].join("\n"));
  middle.run("ip link add switch type bridge");
  middle.run("ip link set switch up");
  for (const [index, name] of names.entries()) {
    const held = await hold("unshare", ["--net", "--mount"]);
    const machine = new NamedMachine(held, addressOf(index));
    machines.set(name, machine);
    middle.run(`ip link add port${index} type veth peer name eth0 netns ${machine.pid}`);
    middle.run(`ip link set port${index} master switch up`);
    machine.run(`ip address add ${machine.address}/24 dev eth0`);
    machine.run("ip link set eth0 up");
    machine.run(`mount --bind ${hosts} /etc/hosts`);
  }
  return {
    of(name) {
      const machine = machines.get(name);
      if (!machine) throw new Error(`no machine ${name}`);
      return machine;
    },
    [Symbol.dispose]() {
      for (const machine of machines.values()) machine.close();
      middle.close();
    },
  };
}
