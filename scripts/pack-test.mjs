/**
 * What `npm pack` gives works for those who install it, without install scripts: the metadata is
 * sound, the types resolve, every program says its version, every export can be imported, the
 * README has no dead link and its program runs, and the daemon has its page. And it brings nothing
 * that nobody needs.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { libraryFiles } from "./library.mjs";
import { root } from "./root.mjs";

const MAX_FILES = 600;

const { name, version, bin, exports } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const tools = join(root, "node_modules", ".bin");

/**
 * What the command says; throws with it when it fails.
 * @param {string} command
 * @param {readonly string[]} args
 */
function run(command, args, cwd = root) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  must(status === 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

/**
 * @param {boolean} condition
 * @param {string} complaint
 */
function must(condition, complaint) {
  if (!condition) throw new Error(complaint);
}

/**
 * @param {readonly string[]} files
 * @param {string} folder where they are installed
 */
function checkFiles(files, folder) {
  must(files.length <= MAX_FILES, `${files.length} files are too many: at most ${MAX_FILES}`);
  const library = libraryFiles(join(folder, "dist"));
  const isUseless = (/** @type {string} */ path) =>
    /\.map$|(?:^|\/)(?:test|bench|scripts)\/|\.test\./.test(path) ||
    (/^dist\/(?!bin\/)/.test(path) && !library.has(path.slice("dist/".length)));
  must(!files.some(isUseless), `no export leads to ${files.filter(isUseless).join(" ")}`);
}

/**
 * Its readers have no other files: the links of the README lead to some of these, and its program
 * runs as it stands.
 * @param {readonly string[]} files
 * @param {string} folder where they are installed
 */
function checkReadme(files, folder) {
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  for (const [, link = ""] of readme.matchAll(/\]\((?!\w+:)([^)#]+)/g)) {
    const isThere = files.some((path) => path === link || path.startsWith(`${link}/`));
    must(isThere, `README.md links to ${link}, which is not packed`);
  }
  const [, program = ""] = /^```js\n(.*?)^```$/ms.exec(readme) ?? [];
  writeFileSync(join(place, "readme.mjs"), program);
  const said = run(process.execPath, ["readme.mjs"], place);
  for (const [, promised = ""] of program.matchAll(/console\.log\(.*\/\/ (.*)$/gm)) {
    must(said.includes(`${promised}\n`), `the program of the README says ${said}`);
  }
}

/**
 * The files that the page of a daemon is made of, all there.
 * @param {string} program
 */
async function checkPage(program) {
  const args = ["--addr=127.0.0.1:0", "--metrics-addr=127.0.0.1:0"];
  const daemon = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
  try {
    let said = "";
    for await (const text of daemon.stdout.setEncoding("utf8")) {
      said += text;
      if (/HTTP +\S+\n/.test(said)) break;
    }
    const url = /HTTP +(\S+)/.exec(said)?.[1] ?? "";
    const page = await (await fetch(url)).text();
    for (const [, path = ""] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const { status } = await fetch(new URL(path, url));
      must(status === 200, `the packed daemon answers ${status} for ${path}`);
    }
    must(page.includes("/page/page.mjs"), `the packed daemon has no page: ${page}`);
  } finally {
    daemon.kill();
  }
}

const place = mkdtempSync(join(tmpdir(), "rollcall-pack-"));
try {
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", place]));
  const tarball = join(place, packed.filename);
  run(join(tools, "publint"), ["run", tarball, "--strict"]);
  run(join(tools, "attw"), [tarball, "--profile", "esm-only", "--no-emoji"]);

  writeFileSync(join(place, "package.json"), '{ "private": true, "type": "module" }');
  run(
    "npm",
    ["install", "--ignore-scripts", "--prefer-offline", "--loglevel=error", tarball],
    place,
  );
  const paths = packed.files.map((/** @type {{ path: string }} */ { path }) => path);
  checkFiles(paths, join(place, "node_modules", name));
  checkReadme(paths, join(place, "node_modules", name));
  for (const program of Object.keys(bin)) {
    const said = run(join(place, "node_modules", ".bin", program), ["--version"], place);
    must(said.includes(version), `${program} --version says ${said}`);
  }
  const entries = Object.keys(exports).filter((path) => !path.endsWith(".json"));
  const imports = entries.map((path) => `import ${JSON.stringify(join(name, path))};\n`);
  writeFileSync(join(place, "imports.js"), imports.join(""));
  run(process.execPath, ["imports.js"], place);
  await checkPage(join(place, "node_modules", ".bin", "agentkeeper"));
} finally {
  rmSync(place, { recursive: true, force: true });
}
