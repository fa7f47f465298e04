/** The `package.json` of the published package, and those of the folders of workspaces in it. */

/** Libraries that a user installs only for the entries that need them. `npm ls` names them; an error does at first use. */
const OPTIONAL = [
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  'esbuild',
  'fast-check',
  'libsql',
  'pg',
];

const isOurs = (name) => name.startsWith('@reprise/');

/**
 * The manifest that is published: one version, the libraries of all workspaces, and no workspace.
 *
 * @param {any} manifest that of `packages/reprise`
 * @param {readonly any[]} workspaces those of all packages
 */
export function publishedManifest(manifest, workspaces) {
  const needed = libraries(workspaces, 'dependencies');
  const peers = libraries(workspaces, 'peerDependencies');
  const optional = OPTIONAL.map((name) => {
    const range = peers.get(name) ?? caret(needed.get(name));
    if (range === undefined) throw new Error(`${name} is optional, and no workspace needs it`);
    return [name, range];
  });
  const { dependencies: _, devDependencies: __, peerDependenciesMeta: ___, private: ____, ...rest } = manifest;
  return {
    ...rest,
    files: ['dist'],
    exports: Object.fromEntries(Object.entries(manifest.exports).map(([name, target]) => [name, published(target)])),
    dependencies: sorted([...needed].filter(([name]) => !OPTIONAL.includes(name))),
    peerDependencies: sorted([...optional, ['zod', peers.get('zod')]]),
    peerDependenciesMeta: sorted(OPTIONAL.map((name) => [name, { optional: true }])),
    publishConfig: { access: 'public', provenance: true },
  };
}

/**
 * The manifest of the folder of a workspace: what Node and bundlers read to load its files, and where it is from, since the
 * pages that the command prints link there.
 *
 * @param {any} workspace its `package.json`
 */
export function nestedManifest({ name, version, repository, type, sideEffects, imports, exports }) {
  const all = (targets) => Object.fromEntries(Object.entries(targets).map(([key, target]) => [key, published(target)]));
  return {
    name,
    version,
    ...(repository === undefined ? {} : { repository }),
    private: true,
    type,
    sideEffects,
    ...(imports === undefined ? {} : { imports: all(imports) }),
    exports: all(exports),
  };
}

/** A target without the condition that leads to sources, which loads only in this repository. */
function published(target) {
  if (typeof target === 'string') return target;
  const { '@reprise/source': _, ...rest } = target;
  return rest;
}

/** The libraries that workspaces name, each with its one range. */
function libraries(workspaces, field) {
  const found = new Map();
  for (const { name: workspace, [field]: named = {} } of workspaces) {
    for (const [name, range] of Object.entries(named).filter(([library]) => !isOurs(library))) {
      const known = found.get(name) ?? range;
      if (known !== range) throw new Error(`${workspace} needs ${name} ${range}, and another workspace ${known}`);
      found.set(name, range);
    }
  }
  return found;
}

const caret = (version) => (version === undefined ? undefined : `^${version.replace(/^\^/, '')}`);

const sorted = (entries) => Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
