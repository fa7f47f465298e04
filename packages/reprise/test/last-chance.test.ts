/** Scripts that wait for a run while the run waits for a person. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';

const SCRIPT = new URL('scripts/last-chance.ts', import.meta.url);
const PROGRAM = [await program(SCRIPT)];
/** The place of the script in an error is that of its source when the sources run. */
const FROM_SOURCES = ['--import', 'tsx', '--conditions=@reprise/source', fileURLToPath(SCRIPT)];

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end. */
function runs(how: string, args = PROGRAM): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...args, how], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

describe('a script that waits for a run', () => {
  it.each([
    ['text', FROM_SOURCES],
    ['events', PROGRAM],
    ['stream', PROGRAM],
  ])(
    'a script that waits by %s ends with an error that says what the run waits for, not in silence',
    async (how, args) => {
      const { code, stderr } = await runs(how, args);
      expect(code).toBe(1);
      expect(stderr).toMatch(/run_waiting: run a\/r0 waits, .*; at session a; got approval: refund \([0-9a-f]{64}\)\./);
      expect(stderr).toContain('Decide about it with `world.decide`');
      if (args === FROM_SOURCES) expect(stderr).toContain('last-chance.ts');
    },
  );

  it('a script in which a decision comes later waits for it', async () => {
    expect(await runs('timer')).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });
});
