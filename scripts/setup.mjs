import './lib/node-version.mjs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './lib/root.mjs';
import { npm, seconds } from './lib/run.mjs';

/**
 * Makes the clone ready: installs the dependencies when what is installed differs from `package-lock.json`.
 * Uses only what comes with Node, for it runs before there is anything else.
 */
export async function setup() {
  const reason = await whyInstall();
  if (reason === undefined) return;
  console.log(`setup: installing dependencies (${reason}); this needs the package registry once`);
  const { code, ms } = await npm(['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  if (code !== 0) {
    console.error('setup: `npm ci` failed; its message is above. Fix that and run the same command again.');
    process.exit(code);
  }
  const still = await whyInstall();
  if (still !== undefined) {
    console.error(`setup: npm reported success, yet ${still}. Delete node_modules and run the same command again.`);
    process.exit(1);
  }
  console.log(`setup: ready after ${seconds(ms)}`);
}

/**
 * Why an install is needed; undefined when it is not.
 *
 * npm writes `node_modules/.package-lock.json` as the last act of an install: it is the stamp, and it says what
 * is there. Comparing it with the lock file by content (not by date) survives checkouts and interrupted installs.
 */
async function whyInstall() {
  const wanted = await packagesOf('package-lock.json');
  if (wanted === undefined) return undefined;
  const installed = await packagesOf('node_modules/.package-lock.json');
  if (installed === undefined) return 'nothing is installed yet';
  for (const [where, entry] of Object.entries(wanted)) {
    if (!where.startsWith('node_modules/') && !where.includes('/node_modules/')) continue;
    const there = installed[where];
    if (there === undefined && entry.optional === true) continue;
    if (there?.version !== entry.version || there?.link !== entry.link)
      return `${where} differs from package-lock.json`;
  }
  return undefined;
}

async function packagesOf(file) {
  try {
    return JSON.parse(await readFile(path.join(ROOT, file), 'utf8')).packages;
  } catch {
    return undefined;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await setup();
