/*
 * `npm run lock`: brings package-lock.json in step with the package.json files, after a dependency changed.
 * It installs nothing. Entries that npm leaves out (see lib/lock-file.mjs) are added, without a digest.
 */
import './lib/node-version.mjs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { entryFromName, missingOptionals } from './lib/lock-file.mjs';
import { ROOT } from './lib/root.mjs';
import { npm } from './lib/run.mjs';

const { code } = await npm(['install', '--package-lock-only', '--no-audit', '--no-fund']);
if (code !== 0) process.exit(code);

const file = path.join(ROOT, 'package-lock.json');
const lock = JSON.parse(await readFile(file, 'utf8'));
const missing = missingOptionals(lock.packages);
for (const optional of missing) {
  const entry = entryFromName(optional);
  if (entry === undefined) {
    console.error(`lock: ${optional.name}@${optional.version} is not in the registry, and its name names no platform`);
    process.exit(1);
  }
  lock.packages[optional.where] = entry;
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
await writeFile(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`lock: ${Object.keys(lock.packages).length} entries, ${missing.length} completed by name`);
