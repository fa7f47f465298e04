/** Jobs whose owner has failed: nothing of them waits for it, and each ends. */
import { describe, expect, it } from 'vitest';
import { desk, inOffice, type Office } from './support/office.js';

const fails = ({ tell }: Office) => tell('test/Break@1', {});

/** Each: the task of a job, and how its owner fails meanwhile. */
const CASES: readonly (readonly [string, string, (office: Office) => Promise<void>])[] = [
  ['whose call makes its owner fail', 'ask fail', async () => undefined],
  ['that waits for an answer when its owner fails', 'ask wait', fails],
];

describe('given a job whose owner fails', () => {
  it.each(CASES)('a job %s is told so, ends, and gives its slot back [OWN-12]', (_name, task, fail) =>
    inOffice(async (office) => {
      await office.hire(1, task);
      await office.settle();
      await fail(office);
      await office.settle();
      expect(office.asked.at(-1)?.last).toContain('adapter_error/cell_failed');
      expect(await office.job(1)).toMatchObject({ status: 'ok' });
      expect(await office.pool()).toEqual({ running: 0, waiting: 0 });
      expect(await office.world.trouble()).toMatchObject([{ where: desk, code: 'threw' }]);
    }),
  );
});
