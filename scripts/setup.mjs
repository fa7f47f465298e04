import './lib/node-version.mjs';
import { chmod, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './lib/root.mjs';
import { npm, seconds } from './lib/run.mjs';

/** How long npm may take to end after Ctrl-C. It would remove what it installed, for half a minute. */
const GRACE_MS = 300;

/**
 * Makes the clone ready: installs the dependencies when what is installed differs from `package-lock.json`.
 * Uses only what comes with Node, for it runs before there is anything else.
 */
export async function setup() {
  await install();
  await linkCommand();
}

async function install() {
  const reason = await whyInstall();
  if (reason === undefined) return;
  console.log(`setup: installing dependencies (${reason}); this needs the package registry once`);
  const { code, ms, stopped } = await npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], { graceMs: GRACE_MS });
  if (stopped !== undefined) {
    console.error('\nsetup: interrupted. Run the same command again: it begins the installation anew.');
    process.exit(stopped);
  }
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

/**
 * Makes `npx reprise` work in the clone and in every folder below it. npm links a command of a workspace only when its
 * built file exists, and `npx` would look for a package of that name in the registry.
 */
async function linkCommand() {
  const bin = path.join(ROOT, 'node_modules/.bin');
  await mkdir(bin, { recursive: true });
  if (process.platform === 'win32') {
    await writeFile(path.join(bin, 'reprise.cmd'), `@node "%~dp0\\..\\..\\scripts\\reprise.mjs" %*\r\n`);
    return;
  }
  const link = path.join(bin, 'reprise');
  const target = '../../scripts/reprise.mjs';
  if ((await readlink(link).catch(() => undefined)) === target) return;
  await chmod(path.join(ROOT, 'scripts/reprise.mjs'), 0o755); // a clone may have lost it, for example from an archive
  await rm(link, { force: true });
  await symlink(target, link);
}

async function packagesOf(file) {
  try {
    return JSON.parse(await readFile(path.join(ROOT, file), 'utf8')).packages;
  } catch {
    return undefined;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await setup();
