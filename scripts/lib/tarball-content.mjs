/** The content of a published package, read from its tarball. */
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
    if (file.endsWith('.map') || /\/src\//.test(file)) problems.push(`${file} is a source or a map of one`);
    if (String(bytes).includes('sourceMappingURL=')) problems.push(`${file} names a map, which is not in the tarball`);
    if (/\.(?:db|tsbuildinfo|log)$|\.test\./.test(file)) problems.push(`${file} is nothing that a user needs`);
  }
  return problems;
}
