/** The content of a published package, read from its tarball. */
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

const BLOCK = 512;

/**
 * The files of an npm tarball by their path in the package.
 *
 * @param {Uint8Array} tarball
 * @returns {Map<string, Buffer>}
 */
export function unpacked(tarball) {
  const tar = gunzipSync(tarball);
  const files = new Map();
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const text = (from, length) => tar.toString('utf8', at + from, at + from + length).replace(/\0.*$/s, '');
    const [name, size, prefix] = [text(0, 100), Number.parseInt(text(124, 12), 8), text(345, 155)];
    const file = (prefix === '' ? name : `${prefix}/${name}`).replace(/^package\//, '');
    files.set(file, tar.subarray(at + BLOCK, at + BLOCK + size));
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

/** The missing parts of a package. @param {Map<string, Buffer>} files */
export function contentProblems(files) {
  const problems = [];
  for (const file of ['README.md', 'LICENSE']) if (!files.has(file)) problems.push(`${file} is not in the tarball`);
  if (!/^```(ts|js) run=/m.test(String(files.get('README.md')))) problems.push('README.md has no example that is run');
  const manifest = JSON.parse(String(files.get('package.json')));
  for (const field of ['description', 'license', 'homepage', 'repository', 'keywords', 'engines'])
    if (manifest[field] === undefined) problems.push(`package.json has no ${field}`);
  for (const [file, bytes] of files) {
    if (file.endsWith('.d.ts') && !files.has(`${file}.map`)) problems.push(`${file} has no declaration map`);
    if (file.endsWith('.map')) problems.push(...mapProblems(file, JSON.parse(String(bytes)), files));
  }
  return problems;
}

/** A map is of use only where its sources are in the package. */
function mapProblems(file, { sources }, files) {
  return sources
    .map((source) => path.posix.join(path.posix.dirname(file), source))
    .filter((source) => !files.has(source))
    .map((source) => `${file} names ${source}, which is not in the tarball`);
}
