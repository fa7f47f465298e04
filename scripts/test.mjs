/*
 * `npm test`: everything that must hold before a change is shared, on a fresh clone or a used one.
 * Stages run in order and stop at the first that fails. The last line is `N passed, N failed[, N skipped]`,
 * counted by vitest; it is printed whenever the unit stage ran.
 */
import './lib/node-version.mjs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from './lib/root.mjs';
import { node, seconds, typescriptArgs } from './lib/run.mjs';
import { setup } from './setup.mjs';

const started = performance.now();
await setup();
const scratch = await mkdtemp(path.join(os.tmpdir(), 'reprise-test-'));
const report = path.join(scratch, 'vitest.json');

const bin = (file) => path.join(ROOT, 'node_modules', file);
const script = (name) => path.join(ROOT, 'scripts', name);

/** Each stage: its name and the programs it runs, side by side. */
const STAGES = [
  ['lint', [[bin('@biomejs/biome/bin/biome'), 'check', '--diagnostic-level=warn', '--error-on-warnings', '.']]],
  [
    'typecheck',
    [
      [bin('typescript/bin/tsc'), '-p', 'tsconfig.json'],
      [bin('typescript/bin/tsc'), '-p', 'tsconfig.pure.json'],
    ],
  ],
  ['unit', [[bin('vitest/vitest.mjs'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]]],
  ['contracts', [[...typescriptArgs(), script('spec/check-report.ts'), report]]],
  ['build', [[script('build.mjs')]]],
  ['smoke', [[script('smoke.mjs')]]],
];

console.log(
  `Reprise tests on Node ${process.versions.node}, ${os.platform()} ${os.arch()}, ${os.availableParallelism()} cores`,
);
const failed = await firstFailure();
const counts = await countTests();
await rm(scratch, { recursive: true, force: true });
console.log(failed === undefined ? 'all stages passed' : `stopped at stage: ${failed}`);
console.log(`total ${seconds(performance.now() - started)}`);
if (counts !== undefined) console.log(counts.line);
process.exitCode = failed === undefined && counts?.failed === 0 ? 0 : 1;

async function firstFailure() {
  for (const [stage, programs] of STAGES) {
    const begun = performance.now();
    const codes = await Promise.all(programs.map(async (program) => (await node(program)).code));
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
