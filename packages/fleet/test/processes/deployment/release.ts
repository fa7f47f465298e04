/** A process of a release: `release.mjs DATABASE NAME SECRET BANK TTL PORT ADDRESS RELEASE`. It makes the calls that it is told to. */
import { isRepriseError } from '@reprise/contracts';
import { openKernelWorld } from '@reprise/kernel';
import { openFleet } from '../../../src/index.js';
import type { FromMember, ToMember } from '../members.js';
import { APPS, adaptersOf, IDLE_MS, OPERATIONS } from './releases.js';

const [database = '', name = '', secret = '', bank = '', ttl = '', , , given = ''] = process.argv.slice(2);
const release = given === 'second' ? 'second' : 'first';

const say = (message: FromMember): void => void process.send?.(message);

/** An answer that is lost on the way is asked for again, under the same key. */
async function called(what: string, order: string, key: string, epoch: number): Promise<boolean> {
  const body = JSON.stringify({ order: `${what} ${order}`, key, epoch });
  const answer = await fetch(bank, { method: 'POST', body }).catch(() => undefined);
  return answer?.ok === true;
}

const fleet = await openFleet({
  ...{ database, name, secret, ttl: Number(ttl), connectionsMax: 4 },
  world: (id) => `${name}-${id}`,
  open: (_id, base) =>
    openKernelWorld({
      ...base,
      app: APPS[release],
      ...(release === 'second' ? { legacy: [APPS.first] } : {}),
      adapters: adaptersOf(release, called),
    }),
  operations: Object.values(OPERATIONS),
  idleMs: IDLE_MS,
  onError: ({ error }) => {
    const reason = isRepriseError(error) ? String(error.details.reason ?? '') : '';
    say({ told: isRepriseError(error) ? error.code : String(error), reason });
  },
});

async function asked({ world, what, id, within }: ToMember): Promise<number | string> {
  const options = { id, within, as: 'human:ann' } as const;
  switch (what) {
    case 'order':
    case 'person':
      return (await fleet.call(world, OPERATIONS[what], { order: id }, options)).frame;
    case 'bell':
      return (await fleet.call(world, OPERATIONS.bell, { order: id, inMs: Number(id.split('-').at(-1)) }, options))
        .frame;
    case 'answer':
      return (await fleet.call(world, OPERATIONS.answer, null, options)).settled;
    case 'look':
      return (await fleet.call(world, OPERATIONS.look, null, options)).state;
    default:
      return (await fleet.call(world, OPERATIONS.look, null, options)).pid;
  }
}

process.on('message', (message: ToMember) => {
  const begun = performance.now();
  const { n } = message;
  asked(message).then(
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
