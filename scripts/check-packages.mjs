/*
 * `npm run check:packages [-- --built]`: the packages as a user gets them. Builds (unless `--built`), packs each one,
 * and checks the tarballs: what is in them, publint, types by @arethetypeswrong, and an empty project that installs
 * all of them, imports every entry and runs an agent. Needs the package registry.
 */
import './lib/node-version.mjs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { NEEDS } from './lib/needs.mjs';
import { workspacePackages } from './lib/packages.mjs';
import { ROOT } from './lib/root.mjs';
import { node, npm, run, seconds } from './lib/run.mjs';
import { contentProblems, unpacked } from './lib/tarball-content.mjs';
import { lintProblems, typeProblems } from './lib/tarball-lint.mjs';

/** The names of optional packages in error messages. Node from 22.13 on has SQLite. */
const ADVICE = [
  [
    '@modelcontextprotocol/server',
    "(await import('reprise/tree/serve')).bridge()",
    'npm install @modelcontextprotocol/server',
  ],
  ['esbuild', "await (await import('reprise/sandbox')).bundlePureCode('lacks.js')", 'npm install --save-dev esbuild'],
  ...(process.getBuiltinModule?.('node:sqlite') === undefined
    ? [['libsql', "await (await import('reprise/sqlite')).sqlite('lacks.db').open()", 'npm install libsql']]
    : []),
];

const started = performance.now();
const problems = [];
if (!process.argv.includes('--built')) await must('the build', await node([path.join(ROOT, 'scripts/build.mjs')]));

const packages = await workspacePackages();
const scratch = await mkdtemp(path.join(os.tmpdir(), 'reprise-packages-'));
try {
  const tarballs = await packAll(path.join(scratch, 'tarballs'));
  for (const one of tarballs) await checkTarball(one);
  await checkInstalled(path.join(scratch, 'app'), tarballs);
} finally {
  await rm(scratch, { recursive: true, force: true });
}

for (const problem of problems) console.error(`packages: ${problem}`);
console.log(
  `packages: ${packages.length} checked in ${seconds(performance.now() - started)}, ${problems.length} problems`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

async function packAll(to) {
  await mkdir(to, { recursive: true });
  const folders = packages.flatMap(({ folder }) => ['-w', folder]);
  await must('npm pack', await npm(['pack', '--pack-destination', to, '--loglevel=error', ...folders]));
  return Promise.all(
    packages.map(async (one) => {
      const file = path.join(to, `${one.name.replace('@', '').replace('/', '-')}-${one.manifest.version}.tgz`);
      return { ...one, file, bytes: await readFile(file) };
    }),
  );
}

async function checkTarball(tarball) {
  const { name, bytes } = tarball;
  const files = unpacked(bytes);
  const size = [...files.values()].reduce((sum, file) => sum + file.length, 0);
  console.log(`${name.padEnd(22)} ${kilobytes(bytes.length)} packed, ${kilobytes(size)} unpacked, ${files.size} files`);
  for (const found of [...contentProblems(files), ...(await lintProblems(tarball)), ...(await typeProblems(tarball))])
    problems.push(`${name}: ${found}`);
}

/** First without the optional packages, to see the error of each entry; then with them. */
async function checkInstalled(app, tarballs) {
  await mkdir(app, { recursive: true });
  await writeFile(path.join(app, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
  const without = tarballs.filter(({ name }) => name !== '@reprise/testkit').map(({ file }) => file);
  await install(app, without);
  const optional = ['fast-check', '@modelcontextprotocol/client', '@modelcontextprotocol/server', 'libsql', 'esbuild'];
  for (const name of [...optional, '@reprise/testkit'])
    if (await isThere(app, name)) problems.push(`${name} is installed for programs that do not use it`);
  // The libraries of the protocol are named at first use, which `packages/reprise/test/missing` tests.
  const atImport = Object.entries(NEEDS).filter(([, name]) => name.startsWith('@reprise/'));
  for (const [entry, needs] of atImport) await expectNamed(app, entry, needs);
  for (const [lacking, text, advice] of ADVICE) await expectAdvice(app, lacking, text, advice);
  await install(app, [
    ...tarballs.map(({ file }) => file),
    ...Object.values(NEEDS).filter((name) => !name.startsWith('@reprise/')),
    'libsql',
    'esbuild',
  ]);
  const specifiers = packages.flatMap(({ name, entries }) =>
    entries.filter(({ subpath }) => subpath.startsWith('.')).map(({ subpath }) => path.posix.join(name, subpath)),
  );
  const imports = specifiers.map(
    (name) => `if (Object.keys(await import('${name}')).length === 0) throw new Error('${name}');`,
  );
  await script(app, 'imports.js', imports.join('\n'), /(?:)/);
  await script(app, 'hello.js', await helloAgent(), /That makes 5\.\n6 frames replayed\n/);
  const command = path.join(app, 'node_modules/.bin/reprise');
  await printed(`${command} verify`, await run(command, ['verify', 'world.db'], { cwd: app, quiet: true }), /6 frames/);
  const explained = await run(command, ['explain', 'head_mismatch'], { cwd: app, quiet: true });
  await printed(`${command} explain`, explained, /^# head_mismatch\n/);
  console.log(`installed in an empty project: ${specifiers.length} entries import, the agent of the README runs`);
}

async function expectNamed(app, entry, needs) {
  await writeFile(path.join(app, 'lacks.js'), `await import('${entry}');\n`);
  const { code, output } = await node(['lacks.js'], { cwd: app, quiet: true });
  if (code === 0 || !output.includes(`Cannot find package '${needs}'`))
    problems.push(`${entry} without ${needs} does not say which package to install: ${output.slice(0, 300)}`);
}

async function expectAdvice(app, lacking, text, advice) {
  await writeFile(path.join(app, 'lacks.js'), `${text};\n`);
  const { code, output } = await node(['lacks.js'], { cwd: app, quiet: true });
  if (code === 0 || !output.includes(advice))
    problems.push(`without ${lacking} nobody says "${advice}": ${output.slice(0, 300)}`);
}

async function install(app, what) {
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', ...what];
  await must('npm install', await npm(args, { cwd: app }));
}

async function isThere(app, name) {
  return readdir(path.join(app, 'node_modules', name)).then(
    () => true,
    () => false,
  );
}

/** The example of the README, with its types left out as a bundler does it. */
async function helloAgent() {
  const readme = await readFile(path.join(ROOT, 'packages/reprise/README.md'), 'utf8');
  const { transform } = await import('esbuild');
  const source = /```ts run=hello\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  return (await transform(source, { loader: 'ts', target: 'node20' })).code;
}

async function script(app, name, text, expected) {
  await writeFile(path.join(app, name), text);
  await printed(name, await node([name], { cwd: app, quiet: true }), expected);
}

async function printed(what, { code, output }, expected) {
  if (code !== 0 || !expected.test(output))
    problems.push(`${what} ends with ${code} and prints: ${output.slice(0, 800)}`);
}

async function must(what, { code }) {
  if (code === 0) return;
  console.error(`packages: ${what} failed (exit ${code})`);
  process.exit(code);
}

function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`.padStart(10);
}
