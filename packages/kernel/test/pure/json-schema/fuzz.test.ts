import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { program } from '../../../../../scripts/lib/program.js';

const node = (args: readonly string[]) => promisify(execFile)(process.execPath, args, { timeout: 120_000 });

it('checks 150 hostile schemas and values within memory and time that are bounded from outside [TOOL-33]', async () => {
  const file = await program(new URL('fuzz.ts', import.meta.url));
  const { stdout } = await node(['--max-old-space-size=192', file, '--inputs', '150']);
  const found = JSON.parse(stdout) as { inputs: number; refused: number; givenUp: number; longestCpuMs: number };
  expect(found.inputs).toBe(150);
  expect(found.refused).toBeGreaterThan(5);
  expect(found.givenUp).toBeGreaterThan(5);
  expect(found.longestCpuMs).toBeLessThan(10_000);
});
