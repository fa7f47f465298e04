/** Scripts that wait for a run while the run waits for a person. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const PROGRAM = path.join(import.meta.dirname, 'scripts/last-chance.ts');
const TIMEOUT_MS = 180_000;

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end. */
function runs(how: string): Promise<Ended> {
  const args = ['--import', 'tsx', '--conditions=@reprise/source', PROGRAM, how];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

describe('a script that waits for a run', () => {
  it.each(['text', 'events', 'stream'])(
    'a script that waits by %s ends with an error that says what the run waits for, not in silence',
    async (how) => {
      const { code, stderr } = await runs(how);
      expect(code).toBe(1);
      expect(stderr).toMatch(/run_waiting: run a\/r0 waits, .*; at session a; got approval: refund \([0-9a-f]{64}\)\./);
      expect(stderr).toContain('Decide about it with `world.decide`');
      expect(stderr).toContain('last-chance.ts');
    },
    TIMEOUT_MS,
  );

  it(
    'a script in which a decision comes later waits for it',
    async () => {
      expect(await runs('timer')).toMatchObject({ code: 0, stdout: 'Done.\n' });
    },
    TIMEOUT_MS,
  );
});
