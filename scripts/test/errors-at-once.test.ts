/** A red test prints its error when it fails, and not only when the run ends. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import ErrorsAtOnce from '../lib/errors-at-once.mjs';
import { ROOT } from '../lib/root.mjs';

const file = path.join(ROOT, 'packages/kernel/test/a.test.ts');
const error = { message: 'expected 1 to be 2', stacks: [{ file, line: 7, column: 3 }], diff: '- 2\n+ 1' };

/** What the reporter prints about a test with this result. */
function printedAbout(state: string, errors: readonly object[]): string {
  const printed: string[] = [];
  new ErrorsAtOnce({ write: (text) => printed.push(text) }).onTestCaseResult({
    module: { moduleId: file },
    fullName: 'a world > a world opens',
    result: () => ({ state, errors }),
  } as never);
  return printed.join('');
}

describe('the reporter of errors', () => {
  it('a red test prints its title, its error, what differs and the place at once', () => {
    expect(printedAbout('failed', [error])).toBe(
      '\nred: packages/kernel/test/a.test.ts > a world > a world opens\n' +
        'expected 1 to be 2\n- 2\n+ 1\n    at packages/kernel/test/a.test.ts:7:3\n',
    );
  });

  it.each(['passed', 'skipped'])('a test that %s prints nothing', (state) => {
    expect(printedAbout(state, [])).toBe('');
  });

  it('a file that cannot be loaded prints why', () => {
    const printed: string[] = [];
    new ErrorsAtOnce({ write: (text) => printed.push(text) }).onTestModuleEnd({
      moduleId: file,
      errors: () => [{ message: 'no such module' }],
    } as never);
    expect(printed.join('')).toBe('\nred: packages/kernel/test/a.test.ts\nno such module\n');
  });
});
