/**
 * The architecture as a test: the rules stand as tables in `scripts/architecture/rules.ts`, and every broken one is
 * named with its file, its line and what to write instead. That each check can fail is shown in
 * `architecture-mutants.test.ts`.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundle, checkKernelBundle, describeBundle } from '../architecture/bundle.js';
import { bundleSizes, checkColdImport, checkHelloBundle, coldImport } from '../architecture/cold.js';
import { checkContent } from '../architecture/content.js';
import { checkDeadExports } from '../architecture/dead-exports.js';
import { checkDocstrings } from '../architecture/docstrings.js';
import {
  checkConformance,
  checkCycles,
  checkFolders,
  checkHostFree,
  checkPackages,
  checkTables,
} from '../architecture/imports.js';
import { checkJson } from '../architecture/json.js';
import { checkLabels } from '../architecture/labels.js';
import { checkLock, checkManifests, checkPureConfig } from '../architecture/manifests.js';
import { checkMarks } from '../architecture/marks.js';
import { checkErrorPages, checkLinks } from '../architecture/pages.js';
import { checkPrinting } from '../architecture/printing.js';
import { checkPureWing } from '../architecture/pure-wing.js';
import { checkRanges } from '../architecture/ranges.js';
import { checkRooms } from '../architecture/rooms.js';
import { HELLO_BUNDLE_MAX, NOT_IN_KERNEL_IMPORT, NOT_IN_ORG_IMPORT, PURE_WING } from '../architecture/rules.js';
import { checkSenders } from '../architecture/senders.js';
import { checkShortDocstrings } from '../architecture/short-docstrings.js';
import {
  conformanceSources,
  formatProblem,
  type Problem,
  packageSources,
  readTree,
  type Tree,
} from '../architecture/tree.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const tree = readTree(ROOT);

const RULES: readonly (readonly [string, (tree: Tree) => readonly Problem[]])[] = [
  ['packages import packages as the table says, and reach them only by name', checkPackages],
  ['the conformance suite imports public entry points only', checkConformance],
  ['folders of a package import each other as the table says', checkFolders],
  ['a folder holds at most twenty source files', (files) => checkRooms(files)],
  ['the tables run in no circle', checkTables],
  ['no file needs itself', checkCycles],
  ['what also runs in browsers uses nothing of a host', checkHostFree],
  ['replayed code uses nothing that answers differently elsewhere', checkPureWing],
  ['the pure wing compiles without host types', (files) => checkPureConfig(files, PURE_WING)],
  ['every exported name has a docstring', checkDocstrings],
  ['no docstring has four words or less', checkShortDocstrings],
  ['every exported name is used, by an entry of reprise or by a file that is no test', checkDeadExports],
  ['every label of an invariant is defined once in its file, and each citation leads to it', checkLabels],
  ['no recipe compares senders by hand', checkSenders],
  ['no recipe reads a table without saying how many entries', checkRanges],
  ['one file parses JSON, and no number loses its digits', checkJson],
  ['programs of the examples print nothing that a terminal would execute', checkPrinting],
  ['words of others reach a prompt through the helper that marks them', checkMarks],
  ['content of a society is read by the gate and the listed files alone', checkContent],
  ['every workspace is stated alike, and none could be published by itself', checkManifests],
  ['the lock file installs anywhere and names no registry', checkLock],
  ['every error code has a page, and every page a code', checkErrorPages],
  ['links between the documents lead somewhere', checkLinks],
];

describe('architecture', () => {
  it.each(RULES)('%s [REQ-10, DET-11]', (_, check) => {
    expect(check(tree).map(formatProblem)).toEqual([]);
  });

  it('the check reads the sources that it judges', () => {
    expect(packageSources(tree).length).toBeGreaterThan(20);
    expect(conformanceSources(tree).length).toBeGreaterThan(20);
  });

  it('the kernel stays small and free of code that it does not need', async () => {
    const kernel = await bundle(ROOT, 'packages/kernel/src/index.ts');
    console.info(describeBundle(kernel));
    expect(checkKernelBundle(kernel).map(formatProblem)).toEqual([]);
  });

  it.each(['index', 'providers'])(
    'importing packages/reprise/src/%s.ts loads nothing that an app may not use',
    async (name) => {
      const entry = `packages/reprise/src/${name}.ts`;
      const loaded = await coldImport(ROOT, [entry]);
      expect(loaded.length).toBeGreaterThan(20);
      expect(checkColdImport(entry, loaded).map(formatProblem)).toEqual([]);
    },
  );

  it('importing packages/reprise/src/kernel.ts loads the kernel alone', async () => {
    const entry = 'packages/reprise/src/kernel.ts';
    const loaded = await coldImport(ROOT, [entry]);
    expect(loaded.length).toBeGreaterThan(20);
    expect(checkColdImport(entry, loaded, NOT_IN_KERNEL_IMPORT).map(formatProblem)).toEqual([]);
    const org = await coldImport(ROOT, ['packages/reprise/src/org/org.ts']);
    expect(checkColdImport(entry, org, NOT_IN_KERNEL_IMPORT)).not.toEqual([]);
  });

  it('importing packages/reprise/src/org/org.ts loads no provider, no server and no other organization', async () => {
    const entry = 'packages/reprise/src/org/org.ts';
    const loaded = await coldImport(ROOT, [entry]);
    expect(loaded.length).toBeGreaterThan(20);
    expect(checkColdImport(entry, loaded, NOT_IN_ORG_IMPORT).map(formatProblem)).toEqual([]);
    const tree = await coldImport(ROOT, ['packages/reprise/src/org/tree.ts']);
    expect(checkColdImport(entry, tree, NOT_IN_ORG_IMPORT)).not.toEqual([]);
  });

  it.each(Object.keys(HELLO_BUNDLE_MAX))('the bundle of %s stays below its ceilings', async (entry) => {
    const sizes = await bundleSizes(ROOT, entry);
    console.info(
      `${entry}: ${JSON.stringify(sizes)} bytes after gzip, at most ${JSON.stringify(HELLO_BUNDLE_MAX[entry])}`,
    );
    expect(checkHelloBundle(entry, sizes).map(formatProblem)).toEqual([]);
  });
});
