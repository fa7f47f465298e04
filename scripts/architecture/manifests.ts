import { missingOptionals } from '../lib/lock-file.mjs';
import { type Json, json, lineAt, objectIn, type Problem, type Tree } from './tree.js';

/** Every workspace is stated alike: ESM with types, one licence, one version, one Node floor, private. */
export function checkManifests(tree: Tree): readonly Problem[] {
  const root = json(tree, 'package.json');
  return [...tree.keys()]
    .filter((file) => /^packages\/[^/]+\/package\.json$/.test(file))
    .flatMap((file) => {
      const manifest = json(tree, file);
      const wrong = [...manifestFaults(manifest, root), ...exportFaults(manifest), ...dependencyFaults(manifest)];
      return wrong.map((what) => ({ file, line: 1, what }));
    });
}

function manifestFaults(manifest: Json, root: Json): readonly string[] {
  const wanted: readonly (readonly [string, unknown, unknown])[] = [
    ['license', manifest.license, 'Apache-2.0'],
    ['type', manifest.type, 'module'],
    ['sideEffects', manifest.sideEffects, false],
    ['engines.node', objectIn(manifest.engines).node, objectIn(root.engines).node],
    // What is published is laid out by scripts/release, which chooses its files.
    ['files', manifest.files, undefined],
    ['scripts', manifest.scripts, undefined],
    ['private', manifest.private, true],
  ];
  const faults = wanted.filter(([, found, expected]) => found !== expected);
  const texts = faults.map(([field, found, expected]) => `${field} is ${String(found)}, not ${String(expected)}`);
  if (typeof manifest.description !== 'string' || manifest.description === '') texts.push('there is no description');
  return texts;
}

/** Conditions are tried in order: the private source condition first, types before default. */
function exportFaults(manifest: Json): readonly string[] {
  const faults: string[] = [];
  const exported = objectIn(manifest.exports);
  if (exported['./package.json'] !== './package.json') faults.push('exports lacks ./package.json');
  if (exported['.'] === undefined) faults.push('exports lacks .');
  for (const [subpath, target] of Object.entries(exported)) {
    if (subpath === './package.json') continue;
    const { '@reprise/source': source, types, default: main } = objectIn(target);
    const order = Object.keys(objectIn(target)).join(', ');
    if (order !== '@reprise/source, types, default') faults.push(`exports ${subpath} has conditions ${order}`);
    const built = String(main);
    if (types !== built.replace(/\.js$/, '.d.ts')) faults.push(`exports ${subpath} has other types`);
    if (source !== built.replace(/^\.\/dist\//, './src/').replace(/\.js$/, '.ts')) {
      faults.push(`exports ${subpath} is not built from ${String(source)}`);
    }
  }
  return faults;
}

function dependencyFaults(manifest: Json): readonly string[] {
  return Object.entries(objectIn(manifest.dependencies))
    .filter(([name, version]) => !isPinned(name, String(version), String(manifest.version)))
    .map(([name, version]) => `dependency ${name} is ${String(version)}: pin it exactly`);
}

function isPinned(name: string, version: string, own: string): boolean {
  const ours = name === 'reprise' || name.startsWith('@reprise/');
  return ours ? version === own : /^\d+\.\d+\.\d+$/.test(version);
}

/** The lock file names no registry, and `npm ci` takes it whatever the registry at hand carries. */
export function checkLock(tree: Tree): readonly Problem[] {
  const file = 'package-lock.json';
  const text = tree.get(file) ?? '';
  const problems: Problem[] = [];
  for (const match of text.matchAll(/"resolved": "(https?|git\S*):[^"]*"/g)) {
    problems.push({ file, line: lineAt(text, match.index), what: 'a download address', use: '`npm run lock`' });
  }
  for (const { where } of missingOptionals(objectIn(json(tree, file).packages))) {
    problems.push({ file, line: 1, what: `${where} is named and has no entry`, use: '`npm run lock`' });
  }
  const npmrc = tree.get('.npmrc') ?? '';
  for (const match of npmrc.matchAll(/^.*(registry|_auth)\w*\s*=.*$/gm)) {
    if (match[0].startsWith('omit-lockfile-registry-resolved=')) continue;
    problems.push({ file: '.npmrc', line: lineAt(npmrc, match.index), what: 'a registry or its secret' });
  }
  return problems;
}

/** The two lists of the pure wing are one: the files checked for bans are those that compile without host types. */
export function checkPureConfig(tree: Tree, wing: readonly string[]): readonly Problem[] {
  const file = 'tsconfig.pure.json';
  const { include } = json(tree, file);
  const included = Array.isArray(include) ? include.map(String) : [];
  const differing = [
    ...wing.filter((folder) => !included.includes(folder)),
    ...included.filter((f) => !wing.includes(f)),
  ];
  return differing.map((folder) => ({ file, line: 1, what: `${folder} stands only here or only in PURE_WING` }));
}
