/** The contract of stores that several processes share, on a real server: take-overs, a network that fails, readers. */
import { fenceChecks, runCheck, testFence } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import { postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';
import { openNetwork } from './proxy.js';
import { standStill } from './stop.js';

/** A take-over waits for it; statements that hang are given up after half of it, which a busy machine must not reach. */
const TTL_MS = 3_000;

describePostgres('PostgreSQL, shared by processes', (own) => {
  const make = async () => {
    const network = await openNetwork(own.server.port);
    const url = own.url.replace(`:${own.server.port}/`, `:${network.port}/`);
    const [name, one, other] = [own.fresh(), postgres(url, { ttl: TTL_MS }), postgres(own.url)];
    return {
      network,
      store: one.world(name),
      again: () => other.world(name),
      endTenure: async () => standStill(TTL_MS * 1.5),
      failing: async () => {
        network.set('cut');
        return async () => network.set('passes');
      },
      dispose: async () => {
        await Promise.all([one.close(), other.close()]);
        await network.close();
      },
    };
  };
  testFence({ name: 'PostgreSQL', runner: { describe, it }, make });

  it('given a network that stalls, every call says so with a code, and nothing that was acknowledged is lost', async () => {
    const check = fenceChecks.find(({ name }) => name.startsWith('given a storage that fails'));
    if (check === undefined) throw new Error('the suite has no check of a storage that fails');
    await runCheck(check, async () => {
      const subject = await make();
      const failing = async () => {
        subject.network.set('stalls');
        return async () => subject.network.set('passes');
      };
      return { ...subject, failing };
    });
  });
});
