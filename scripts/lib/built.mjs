/*
 * Whether the packages, and the examples that scripts start, are built from the sources as they are now. What runs in
 * the clone starts from built files then: compiling the sources takes four times as long as all the rest of a start.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './root.mjs';

/** The examples that a build bundles. */
export const BUILT_EXAMPLES = ['coding-agent', 'headless-world', 'review-team', 'swarm'];

const STAMP = 'node_modules/.cache/reprise-built';

/** Notes that everything is built from the sources as they are now. */
export function noteBuild(root = ROOT) {
  mkdirSync(path.join(root, path.dirname(STAMP)), { recursive: true });
  writeFileSync(path.join(root, STAMP), stampNow(root));
}

/**
 * Whether the build is current, older than the sources, or absent.
 *
 * @returns {'current' | 'stale' | 'absent'}
 */
export function buildState(root = ROOT) {
  const stamp = path.join(root, STAMP);
  const examples = foldersOf(root, 'examples').filter((folder) => BUILT_EXAMPLES.includes(path.basename(folder)));
  const built = [...foldersOf(root, 'packages'), ...examples];
  if (!existsSync(stamp) || built.some((folder) => !existsSync(path.join(folder, 'dist')))) return 'absent';
  return readFileSync(stamp, 'utf8') === stampNow(root) ? 'current' : 'stale';
}

/** A digest of the names, sizes and times of all that is built: to read 1,400 files would take longer than it saves. */
function stampNow(root) {
  const sources = [...foldersOf(root, 'packages'), ...foldersOf(root, 'examples')].flatMap((folder) => [
    path.join(folder, 'package.json'),
    ...filesBelow(path.join(folder, 'src')),
  ]);
  const hash = createHash('sha256');
  for (const file of [...sources, ...filesBelow(path.join(root, 'docs/errors'))]) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${path.relative(root, file)} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
  return files.sort();
}

function foldersOf(root, above) {
  const folders = readdirSync(path.join(root, above)).map((name) => path.join(root, above, name));
  return folders.filter((folder) => existsSync(path.join(folder, 'src')));
}
