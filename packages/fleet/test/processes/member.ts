/**
 * A process of a fleet, which a test leads by messages: `member.mjs DATABASE NAME SECRET BANK TTL PORT ADDRESS RELEASE WITNESS`.
 * It makes the calls that it is told to, and says what came of each. `PORT` 0 is any; `ADDRESS` and `WITNESS`, a folder, may be
 * empty, and there is one `RELEASE`.
 */
import { isRepriseError } from '@reprise/contracts';
import { witnessFolder } from '@reprise/store-postgres';
import { openFleet } from '../../src/index.js';
import { asked, openShop, order, orders, till } from '../shop.js';
import type { FromMember, ToMember } from './members.js';

const [database = '', name = '', secret = '', bank = '', ttl = '', port = '', address = '', , witness = ''] =
  process.argv.slice(2);

const say = (message: FromMember): void => void process.send?.(message);

/** The bank counts calls; an answer that is lost on the way is asked for again, under the same key. */
async function pays(one: string, key: string, epoch: number): Promise<boolean> {
  const body = JSON.stringify({ order: one, key, epoch });
  const answer = await fetch(bank, { method: 'POST', body }).catch(() => undefined);
  return answer?.ok === true;
}

const fleet = await openFleet({
  ...{ database, name, secret, ttl: Number(ttl), connectionsMax: 4 },
  ...(address === '' ? {} : { address }),
  ...(witness === '' ? {} : { witness: witnessFolder(witness) }),
  listen: { port: Number(port) },
  world: (id) => `${name}-${id}`,
  open: openShop([till(pays)]),
  operations: [order, orders, asked],
  idleMs: 2_000,
  onError: ({ error }) => {
    const reason = isRepriseError(error) ? String(error.details.reason ?? '') : '';
    say({ told: isRepriseError(error) ? error.code : String(error), reason });
  },
});

async function made({ world, what, id, within, by }: ToMember): Promise<number> {
  const as = `human:${by ?? 'nobody'}` as const;
  switch (what) {
    case 'asked':
      return (await fleet.call(world, asked, null, { id, within })).pid;
    case 'post':
      await fleet.post(world, order, { order: id, pays: true }, { id, as });
      return 0;
    case 'posted':
      return (await fleet.answer(world, order, { id, as, within })).frame;
    default:
      return (await fleet.call(world, order, { order: id, pays: what === 'order' }, { id, within })).frame;
  }
}

process.on('message', (message: ToMember) => {
  const { n } = message;
  const begun = performance.now();
  const called = made(message);
  called.then(
    (said) => say({ n, ok: true, said, ms: performance.now() - begun }),
    (error: unknown) => {
      const said = isRepriseError(error) ? error.code : String(error);
      say({ n, ok: false, said, reason: isRepriseError(error) ? String(error.details.reason) : '', ms: 0 });
    },
  );
});
process.once('SIGTERM', () => void fleet.close());
void fleet.closed.then(() => process.exit(0));
process.once('disconnect', () => process.exit(0));
say({ ready: fleet.address });
