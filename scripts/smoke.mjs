/*
 * Imports every entry of every built package the way a user's Node does: plain JavaScript, no source condition.
 * Exits non-zero when one fails to load, exports nothing, or has no declarations.
 */
import './lib/node-version.mjs';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { workspacePackages } from './lib/packages.mjs';
import { ROOT } from './lib/root.mjs';

const problems = [];
let loaded = 0;
for (const { name, folder, entries } of await workspacePackages()) {
  for (const entry of entries.filter(({ subpath }) => subpath.startsWith('.'))) {
    await check(path.posix.join(name, entry.subpath), folder, entry);
  }
}
for (const problem of problems) console.error(`smoke: ${problem}`);
console.log(`smoke: ${loaded} entries load in plain Node ${process.versions.node}, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function check(specifier, folder, { output, types }) {
  const expected = path.join(ROOT, folder, output);
  const found = fileURLToPath(import.meta.resolve(specifier));
  if (found !== expected) problems.push(`${specifier} resolves to ${found}, not to ${expected}`);
  if (types === undefined || !existsSync(path.join(ROOT, folder, types))) problems.push(`${specifier} has no types`);
  try {
    const module = await import(specifier);
    if (Object.keys(module).length === 0) problems.push(`${specifier} exports nothing`);
    loaded += 1;
  } catch (error) {
    problems.push(`${specifier} does not load: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
