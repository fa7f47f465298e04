/*
 * Uses every entry of every built package the way a user does, without the source condition: plain Node imports its
 * JavaScript, and a program of a user compiles against its declarations, which are checked themselves as well.
 */
import './lib/node-version.mjs';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { workspacePackages } from './lib/packages.mjs';
import { ROOT } from './lib/root.mjs';
import { node, seconds } from './lib/run.mjs';

const problems = [];
const specifiers = [];
for (const { name, folder, entries } of await workspacePackages()) {
  for (const entry of entries) {
    if (entry.subpath.startsWith('.')) await load(path.posix.join(name, entry.subpath), folder, entry);
    else if (!existsSync(path.join(ROOT, folder, entry.output)))
      problems.push(`${name} lacks its command ${entry.output}`);
  }
}
console.log(`smoke: ${specifiers.length} entries load in plain Node ${process.versions.node}`);
await compileUser();
for (const problem of problems) console.error(`smoke: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function load(specifier, folder, { output, types }) {
  const expected = path.join(ROOT, folder, output);
  const found = fileURLToPath(import.meta.resolve(specifier));
  if (found !== expected) problems.push(`${specifier} resolves to ${found}, not to ${expected}`);
  if (types === undefined || !existsSync(path.join(ROOT, folder, types))) problems.push(`${specifier} has no types`);
  try {
    const module = await import(specifier);
    if (Object.keys(module).length === 0) problems.push(`${specifier} exports nothing`);
    specifiers.push(specifier);
  } catch (error) {
    problems.push(`${specifier} does not load: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

async function compileUser() {
  const user = path.join(ROOT, '.types/user');
  const lines = specifiers.map((specifier, index) => `import * as m${index} from '${specifier}';\nvoid m${index};\n`);
  const compilerOptions = {
    target: 'ES2022',
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    lib: ['ES2023', 'ESNext.Disposable'],
    types: ['node'],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  };
  await mkdir(user, { recursive: true });
  await writeFile(path.join(user, 'index.ts'), lines.join(''));
  await writeFile(path.join(user, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['index.ts'] }));
  const { code, ms } = await node([path.join(ROOT, 'node_modules/typescript-5/bin/tsc'), '-p', user]);
  if (code !== 0) problems.push('a user of these packages does not compile');
  else console.log(`smoke: a user of all of them compiles, declarations checked, in ${seconds(ms)}`);
}
