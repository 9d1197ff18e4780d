/**
 * A registry that lacks the newest version for some platform makes `npm install` leave that entry
 * out without a word; `npm ci` then fails for everybody. The cure: a version that is there for all.
 */

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export function missingFromLock(text: string): readonly string[] {
  const { packages } = JSON.parse(text) as LockFile;
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isWithin(path, name, packages))
      .map(([name, version]) => `${path} needs ${name} ${version}`),
  );
}

/** As Node looks packages up: in the own node_modules, then in that of each folder above. */
function isWithin(path: string, name: string, packages: LockFile["packages"]): boolean {
  if (`${path}${path ? "/" : ""}node_modules/${name}` in packages) return true;
  if (path === "") return false;
  return isWithin(path.slice(0, Math.max(0, path.lastIndexOf("/node_modules/"))), name, packages);
}
