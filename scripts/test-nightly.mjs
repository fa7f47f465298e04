/*
 * `npm run test:nightly [-- --night N] [-- PATH …]`: all tests, in full and with seeds that no run had before, and then, unless paths
 * choose some of the tests, the random forms below. The number of the night is printed first and last: `--night N` repeats
 * all that it drew. `lib/nightly-fast-check.ts` mixes it into each property's seed.
 */
import './lib/node-version.mjs';
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { ROOT } from './lib/root.mjs';
import { node, seconds, typescriptArgs, typescriptEnv } from './lib/run.mjs';
import { setup } from './setup.mjs';

/** Seeds are mixed by their 31 lower bits. */
const NIGHTS = 2 ** 31 - 1;

/** Programs that live random worlds beside an oracle, each for some minutes. */
const FORMS = [
  ['conformance/society-content.ts', '--worlds', '2000', '--keep-going'],
  ['conformance/society-trust.ts', '--sequences', '1000'],
  ['conformance/deployments.ts', '--deployments', '5000', '--keep-going'],
  ['conformance/tree-long.ts', '--schedules', '50000', '--worlds', '500', '--calls', '5000'],
  ['conformance/team.ts', '--schedules', '5000'],
  ['conformance/memory-long.ts', '--operations', '20000'],
];

const { night, paths } = wordsOf(process.argv.slice(2));
await setup();
console.log(`night ${night}`);
const env = { ...typescriptEnv(), TESTS: 'all', REPRISE_NIGHT: String(night), REPRISE_SEED: String(night) };
const reporters = ['default', path.join(ROOT, 'scripts/lib/errors-at-once.mjs')].map((name) => `--reporter=${name}`);
const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
const simulator = [path.join(ROOT, 'scripts/simulate.mjs'), '--seeds', '2000', '--from', String(night)];
const programs = [
  ['all tests', [vitest, 'run', ...reporters, ...paths]],
  ...(paths.length > 0 ? [] : [['simulate', simulator], ...FORMS.map(formOf)]),
];

const failed = [];
for (const [name, args] of programs) {
  const { code, ms, stopped } = await node(args, { env });
  if (stopped !== undefined) process.exit(stopped);
  if (code !== 0) failed.push(name);
  console.log(`== ${name}: ${code === 0 ? 'passed' : `FAILED (exit ${code})`} in ${seconds(ms)}`);
}
const again = ['npm run test:nightly -- --night', night, ...paths].join(' ');
console.log(`night ${night}: ${failed.length === 0 ? 'passed' : `failed: ${failed.join(', ')}`}; again: ${again}`);
process.exitCode = failed.length === 0 ? 0 : 1;

function formOf([file, ...args]) {
  return [file, [...typescriptArgs(), path.join(ROOT, file), ...args, '--seed', String(night)]];
}

function wordsOf(words) {
  const at = words.indexOf('--night');
  if (at < 0) return { night: randomInt(1, NIGHTS), paths: words };
  const night = Number(words[at + 1]);
  if (Number.isInteger(night) && night > 0 && night <= NIGHTS) return { night, paths: words.toSpliced(at, 2) };
  console.error(`test:nightly: --night takes a number from 1 to ${NIGHTS}, not ${words[at + 1] ?? 'nothing'}`);
  process.exit(2);
}
