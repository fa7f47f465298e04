import { VirtualClock } from '@reprise/testkit';
import { testDirectory } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import { memoryDirectory } from '../../../src/serve/host/index.js';

const runner = { describe, it };

testDirectory({ name: 'memory', runner, make: async () => ({ directory: memoryDirectory() }) });

/** The opening of `directory` is stopped while the time passes; the other one is heard of. */
testDirectory({
  ...{ name: 'memory, shared', runner },
  make: async () => {
    const clock = new VirtualClock();
    const directory = memoryDirectory({ shared: true, ttl: 100, clock });
    const others: Awaited<ReturnType<typeof directory.open>>[] = [];
    return {
      directory,
      again: () => ({
        ...directory,
        open: async () => {
          const open = await directory.open();
          others.push(open);
          return open;
        },
      }),
      endLease: async () => {
        await clock.advance(90);
        for (const other of others) await other.nextDue(0);
        await clock.advance(90);
      },
    };
  },
});
