/*
 * `npm test`: what must hold before a change is shared, on a fresh clone or a used one, in minutes.
 * `npm run test:rest`: what takes longer (`lib/suites.mjs` lists it and says why), the check that every cited test ran,
 * the build, and a smoke of the built packages. `npm run test:all` is the one after the other.
 * Of the deep tests, `npm run test:rest` takes one share, chosen by the commit (`conformance/shares.mjs` says why).
 * `npm test -- PATH …`: only the tests below some paths, those of both suites: `packages/kernel` is a shard of its own.
 *
 * Stages run in order and stop at the first that fails. The last line is `N passed, N failed[, N skipped]`, counted by
 * vitest; it is printed whenever tests ran. What `npm test` ran is remembered for the check of the cited tests.
 */
import './lib/node-version.mjs';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { SHARES, shareOfCommit } from '../conformance/shares.mjs';
import { ROOT } from './lib/root.mjs';
import { node, run, seconds, typescriptArgs } from './lib/run.mjs';
import { setup } from './setup.mjs';

const started = performance.now();
const rest = process.argv.includes('--rest');
const paths = process.argv.slice(2).filter((word) => word !== '--rest');
await setup();

const scratch = path.join(ROOT, 'node_modules/.cache/reprise-test');
await mkdir(scratch, { recursive: true });
const reportOf = (suite) => path.join(scratch, `${suite}.json`);
const suite = paths.length > 0 ? 'paths' : rest ? 'rest' : 'quick';
const report = reportOf(suite);
await rm(report, { force: true });

const bin = (file) => path.join(ROOT, 'node_modules', file);
const script = (name) => path.join(ROOT, 'scripts', name);
const reporters = ['default', script('lib/errors-at-once.mjs'), 'json'].map((name) => `--reporter=${name}`);
const tests = [bin('vitest/vitest.mjs'), 'run', ...reporters, `--outputFile.json=${report}`, ...paths];

/** The stages of each suite: their names and the programs they run, side by side. */
const STAGES = {
  quick: [
    ['lint', [[bin('@biomejs/biome/bin/biome'), 'check', '--diagnostic-level=warn', '--error-on-warnings', '.']]],
    [
      'typecheck',
      [
        // One thread each: several would check the types of what they share several times.
        [bin('typescript/bin/tsc'), '--singleThreaded', '-p', 'tsconfig.json'],
        [bin('typescript/bin/tsc'), '--singleThreaded', '-p', 'tsconfig.pure.json'],
        [bin('typescript/bin/tsc'), '--singleThreaded', '-p', 'packages/inspect/page/tsconfig.json'],
      ],
    ],
    ['unit', [tests]],
  ],
  rest: [
    ['unit', [tests]],
    ['contracts', [[...typescriptArgs(), script('spec/check-report.ts'), reportOf('quick'), reportOf('rest')]]],
    ['build', [[script('build.mjs')]]],
    ['packages', [[script('smoke.mjs')], [script('release.mjs'), '--dry', '--built']]],
  ],
  paths: [['unit', [tests]]],
}[suite];

if (suite === 'rest' && !existsSync(reportOf('quick'))) {
  console.error('test:rest: run `npm test` first: the check of the cited tests needs to know what it ran');
  process.exit(1);
}
const share = suite === 'rest' ? (process.env.DEEP_SHARE ?? String(shareOfCommit(await headOf(ROOT)))) : undefined;
console.log(
  `Reprise tests (${suite}) on Node ${process.versions.node}, ${os.platform()} ${os.arch()}, ${os.availableParallelism()} cores`,
);
if (share !== undefined)
  console.log(
    `deep tests: share ${share} of ${SHARES} (numbered from 0), by the commit; DEEP_SHARE=N another, DEEP_SHARE=all all`,
  );
const failed = await firstFailure();
const counts = await countTests();
console.log(failed === undefined ? 'all stages passed' : `stopped at stage: ${failed}`);
console.log(`total ${seconds(performance.now() - started)}`);
if (counts !== undefined) console.log(counts.line);
process.exitCode = failed === undefined && counts?.failed === 0 ? 0 : 1;

/** The commit that is tested; a folder without a history has none. */
async function headOf(folder) {
  const { code, output } = await run('git', ['rev-parse', 'HEAD'], { cwd: folder, quiet: true }).catch(() => ({
    code: 1,
  }));
  return code === 0 ? output.trim() : 'no commit';
}

async function firstFailure() {
  for (const [stage, programs] of STAGES) {
    const begun = performance.now();
    const env = { SUITE: suite === 'paths' ? undefined : suite, DEEP_SHARE: share };
    const codes = await Promise.all(programs.map(async (program) => (await node(program, { env })).code));
    const code = codes.find((one) => one !== 0) ?? 0;
    console.log(
      `stage ${stage}: ${code === 0 ? 'passed' : `FAILED (exit ${code})`} in ${seconds(performance.now() - begun)}`,
    );
    if (code !== 0) return stage;
  }
  return undefined;
}

/** A file that could not even be loaded counts as one failed test: it may not hide behind `0 failed`. */
async function countTests() {
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const result = JSON.parse(text);
  const unloaded = result.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
  const failures = result.numFailedTests + unloaded.length;
  const skipped = result.numPendingTests + result.numTodoTests;
  const line = `${result.numPassedTests} passed, ${failures} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
  return { failed: failures, line };
}
