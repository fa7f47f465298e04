/**
 * Registers agents with keys in a folder, and searches all that was written otherwise for their private keys: the world's
 * file with journal and content, a fork, errors, and the journal as text. Raw, hex and base64.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-secrets.ts [--registrations 10000] [--mutant careless]
 *
 * With --mutant careless the vault gives private keys as they are where it should encrypt them: each must be found.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { register } from './society/secrets/registrations.js';
import { found } from './society/secrets/scan.js';

const { values: options } = parseArgs({
  options: { registrations: { type: 'string', default: '10000' }, mutant: { type: 'string', default: '' } },
});
const registrations = Number(options.registrations);
const folder = mkdtempSync(path.join(tmpdir(), 'reprise-secrets-'));
try {
  const { keys, bytes } = await register(folder, registrations, options.mutant === 'careless');
  const hits = found(keys, bytes);
  const size = bytes.reduce((sum, { length }) => sum + length, 0);
  console.log(
    `${keys.length} private keys of ${registrations} registrations, ${size} bytes searched: ${hits.length} found`,
  );
  process.exitCode = hits.length === 0 && keys.length === registrations ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
