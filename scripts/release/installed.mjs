/** Uses the packed package in an empty project, as its user does: first without the optional libraries, then with them. */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { NEEDS } from '../lib/needs.mjs';
import { ROOT } from '../lib/root.mjs';
import { node, npm, run } from '../lib/run.mjs';

/** What names a library that is not installed, with the command that installs it. Node from 22.13 on has SQLite. */
const ADVICE = [
  ["await import('reprise/testing/ports')", 'npm install --save-dev fast-check'],
  ["await (await import('reprise/tree/serve')).bridge()", 'npm install @modelcontextprotocol/server'],
  ["await (await import('reprise/sandbox')).bundlePureCode('used.js')", 'npm install --save-dev esbuild'],
  ...(process.getBuiltinModule?.('node:sqlite') === undefined
    ? [["await (await import('reprise/sqlite')).sqlite('lacks.db').open()", 'npm install libsql']]
    : []),
];

/** Pure code that names the kernel by an entry of the package: in the bundle it must be the kernel that replays. */
const PURE_CODE = `import { defineApp } from 'reprise/kernel';
export default defineApp({ name: 'empty', version: '1', reducers: [], plans: [] });
`;
const BUNDLE = `import { bundlePureCode } from 'reprise/sandbox';
const text = new TextDecoder().decode(await bundlePureCode('app.js'));
console.log(text.length < 4_000 && text.includes('require("@reprise/kernel')? 'small' : text.length + ' bytes');
`;

/**
 * @param {string} app the folder of the project, to be made
 * @param {string} tarball the path of the packed package
 * @param {any} manifest the one in it
 * @returns {Promise<string[]>} what is wrong
 */
export async function installedProblems(app, tarball, manifest) {
  const problems = [];
  const expectPrinted = async (what, running, expected, isFailure = false) => {
    const { code, output } = await running;
    const isRight =
      (code !== 0) === isFailure && (typeof expected === 'string' ? output.includes(expected) : expected.test(output));
    if (!isRight) problems.push(`${what} ends with ${code} and prints: ${output.slice(0, 800)}`);
  };
  const uses = async (what, text, expected, isFailure) => {
    await writeFile(path.join(app, 'used.js'), text);
    await expectPrinted(what, node(['used.js'], { cwd: app, quiet: true }), expected, isFailure);
  };
  const install = (...what) =>
    expectPrinted(
      `npm install ${what.join(' ')}`,
      npm(['install', ...QUIETLY, ...what], { cwd: app, quiet: true }),
      /(?:)/,
    );

  await mkdir(app, { recursive: true });
  await writeFile(path.join(app, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
  await install(tarball);
  const optional = Object.keys(manifest.peerDependenciesMeta);
  for (const name of optional)
    await uses(`a project that did not install ${name}`, `await import('${name}');\n`, 'Cannot find package', true);
  for (const [text, advice] of ADVICE) await uses(text, `${text};\n`, advice, true);

  await install(...optional.map((name) => `${name}@${versionHere(name) ?? manifest.peerDependencies[name]}`));
  const entries = entriesOf(manifest);
  await uses(
    'an import of every entry',
    entries
      .map((name) => `if (Object.keys(await import('${name}')).length === 0) throw new Error('${name}');`)
      .join('\n'),
    /^$/,
  );
  await uses('the agent of the README', await helloAgent(), /That makes 5\.\n6 frames replayed\n/);
  await writeFile(path.join(app, 'app.js'), PURE_CODE);
  await uses('a bundle of pure code', BUNDLE, 'small\n');
  const command = path.join(app, 'node_modules/.bin/reprise');
  await expectPrinted('reprise verify', run(command, ['verify', 'world.db'], { cwd: app, quiet: true }), /6 frames/);
  await expectPrinted(
    'reprise explain',
    run(command, ['explain', 'head_mismatch'], { cwd: app, quiet: true }),
    /^# head_mismatch\n/,
  );
  await expectPrinted(
    'reprise --version',
    run(command, ['--version'], { cwd: app, quiet: true }),
    `${manifest.version}\n`,
  );
  await expectPrinted('the compiler', compiled(app, entries), /^$/);
  console.log(
    `installed in an empty project: ${entries.length} entries import and compile, the agent of the README runs`,
  );
  return problems;
}

const QUIETLY = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];

function entriesOf({ name, exports }) {
  const subpaths = Object.keys(exports).filter((subpath) => subpath !== './package.json');
  const entries = subpaths.map((subpath) => path.posix.join(name, subpath));
  const stray = Object.keys(NEEDS).filter((entry) => !entries.includes(entry));
  if (stray.length > 0)
    throw new Error(`scripts/lib/needs.mjs names ${stray.join(', ')}, which the package does not export`);
  return entries;
}

/** The version that this repository tests with. */
function versionHere(name) {
  return installedHere[name];
}
const { devDependencies: installedHere } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));

/** The example of the README, with its types left out as a bundler does it. */
async function helloAgent() {
  const readme = await readFile(path.join(ROOT, 'packages/reprise/README.md'), 'utf8');
  const { transform } = await import('esbuild');
  const source = /```ts run=hello\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  return (await transform(source, { loader: 'ts', target: 'node20' })).code;
}

/** Compiles a program that imports every entry, and checks the declarations themselves. */
async function compiled(app, entries) {
  const lines = entries.map((entry, index) => `import * as m${index} from '${entry}';\nvoid m${index};\n`);
  await writeFile(path.join(app, 'user.ts'), lines.join(''));
  const types = path.join(app, 'node_modules/@types');
  await mkdir(types, { recursive: true });
  await symlink(path.join(ROOT, 'node_modules/@types/node'), path.join(types, 'node'));
  await symlink(path.join(ROOT, 'node_modules/undici-types'), path.join(app, 'node_modules/undici-types'));
  const compilerOptions = {
    target: 'ES2022',
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    lib: ['ES2023', 'ESNext.Disposable'],
    types: ['node'],
    preserveSymlinks: true,
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  };
  await writeFile(path.join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['user.ts'] }));
  return node([path.join(ROOT, 'node_modules/typescript-5/bin/tsc'), '-p', app], { quiet: true });
}
