/**
 * The missing entries of a lock file: optional packages (one platform's binaries, as a rule) that another entry names
 * and that have no entry. npm leaves them out when the registry in use does not have them, and then refuses
 * its own lock file in `npm ci`, here and on every other platform.
 *
 * @param {Record<string, any>} packages the `packages` of a lock file
 * @returns {{ where: string, name: string, version: string, dev: boolean }[]}
 */
export function missingOptionals(packages) {
  const missing = [];
  for (const [where, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!candidates(where, name).some((place) => packages[place] !== undefined)) {
        missing.push({ where: candidates('', name)[0], name, version, dev: entry.dev === true });
      }
    }
  }
  return missing;
}

/** The entry of a binary package that cannot be fetched: its name shows where it runs. */
export function entryFromName({ name, version, dev }) {
  const words = name.split(/[/-]/);
  const os = words.find((word) => SYSTEMS.has(word));
  const cpu = words.find((word) => PROCESSORS.has(word));
  if (os === undefined || !/^\d+\.\d+\.\d+$/.test(version)) return undefined;
  const musl = words.some((word) => word.startsWith('musl'));
  return {
    version,
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(dev ? { dev } : {}),
    ...(os === 'linux' ? { libc: [musl ? 'musl' : 'glibc'] } : {}),
    optional: true,
    os: [os],
  };
}

const SYSTEMS = new Set([
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]);
const PROCESSORS = new Set(['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64']);

/** The folders where Node would look for a package that `where` imports, nearest first. */
function candidates(where, name) {
  const places = [];
  let base = where;
  while (base !== '') {
    places.push(`${base}/node_modules/${name}`);
    const at = base.lastIndexOf('node_modules/');
    base = at <= 0 ? '' : base.slice(0, at - 1);
  }
  return [...places, `node_modules/${name}`];
}
