/**
 * The canary test in the long form: in each place that may hold a secret, also with the scrubber switched off, which the
 * check has to see:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/canary.ts
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', 'packages/reprise/test/canary'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: { ...process.env, CANARY_MUTANTS: 'all' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
