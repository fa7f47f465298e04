import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const here = path.dirname(fileURLToPath(import.meta.url));
const node = (args: readonly string[]) => promisify(execFile)(process.execPath, args, { timeout: 120_000 });

it('checks 150 hostile schemas and values within memory and time that are bounded from outside [TOOL-33]', async () => {
  const flags = ['--max-old-space-size=192', '--import', 'tsx', '--conditions=@reprise/source'];
  const { stdout } = await node([...flags, path.join(here, 'fuzz.ts'), '--inputs', '150']);
  const found = JSON.parse(stdout) as { inputs: number; refused: number; givenUp: number; longestMs: number };
  expect(found.inputs).toBe(150);
  expect(found.refused).toBeGreaterThan(5);
  expect(found.givenUp).toBeGreaterThan(5);
  expect(found.longestMs).toBeLessThan(10_000);
}, 130_000);
