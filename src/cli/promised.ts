/**
 * A program whose commands are not in this version. It says so and ends as for wrong usage, so that
 * no script takes it for the real one.
 */
import { Output } from "./terminal/output.ts";
import { EXIT } from "./exit.ts";
import { releaseVersion } from "../daemon/version.ts";

export async function promised(name: string, argv: readonly string[]): Promise<void> {
  const out = new Output(process.stdout, process.env);
  const err = new Output(process.stderr, process.env);
  const [first] = argv;
  if (first === "--version") {
    await out.line(`${name} ${releaseVersion()} (rollcall)`);
  } else if (first === "--help" || first === "-h") {
    await out.line(`Usage: ${name} --version | --help\n`);
    await out.line(`This version of rollcall has no ${name} commands yet: these two are all.`);
  } else {
    const complaint = `rollcall ${releaseVersion()} has no ${name} commands yet`;
    await err.line(`${err.paint("red", "error:")} ${complaint}`);
    process.exitCode = EXIT.usage;
  }
}
