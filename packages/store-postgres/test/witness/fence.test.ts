/** The fence of an owner, without a database: what is sent when a world is taken, and with each write of its owner. */
import { Ref, RepriseError } from '@reprise/contracts';
import { EMPTY_HEAD, type OpenStore } from '@reprise/kernel';
import { KeptPacks } from '@reprise/packs';
import { describe, expect, it } from 'vitest';
import type { Row } from '../../src/connection/driver.js';
import { Gathering } from '../../src/connection/gathering.js';
import type { Hosts } from '../../src/tenure/hosts.js';
import type { Lease } from '../../src/tenure/lease.js';
import { takeWorld } from '../../src/tenure/take.js';
import { Committer } from '../../src/world/committer.js';
import { Packer } from '../../src/world/packer.js';
import { type Shared, worldStore } from '../../src/world/store.js';
import { frameOf } from '../packing/frames.js';
import { FIRST, type Sent, scripted } from './memory.js';

const lease = {
  id: FIRST,
  holds: () => true,
  ask: async () => undefined,
  lost: new Promise<void>(() => undefined),
} as unknown as Lease;

function sharedOf(answer: (sent: Sent) => readonly Row[]) {
  const connections = scripted(answer);
  const tables = { objects: true, packs: true, requireSame: async () => undefined };
  const shared: Shared = {
    ...{ connections, tables, open: new Set(), giving: new Gathering(async () => undefined), kept: new KeptPacks() },
    ...{ committer: new Committer(connections), packer: new Packer(0), objects: undefined },
    hosts: { current: async () => lease } as unknown as Hosts,
  };
  return { shared, sent: connections.sent };
}

const HEAD = new Uint8Array(32);

/** A database in which nobody has the world, in an incarnation. */
const free =
  (why: string | null) =>
  ({ text }: Sent): readonly Row[] => {
    if (text.includes('FROM reprise.cell c LEFT JOIN reprise.world')) return [[7, 3, null, FIRST, 0, 'start', why]];
    if (text.includes('SET epoch')) return [[true]];
    if (text.startsWith('SELECT mark')) return [[null, 0, -1, HEAD]];
    if (text.includes('c.system, c.database')) return [['sys', 5, 1, 'sys', 5, 2]];
    return [];
  };

describe('a world of a restored database', () => {
  it('a world of a database that no operator has admitted is not taken, and nothing is written [FLEET-9]', async () => {
    for (const why of ['system', 'database', 'timeline', 'heads'] as const) {
      const { shared, sent } = sharedOf(free(why));
      const refused = await takeWorld(shared, 'a', 'here').catch((error: unknown) => error as RepriseError);
      expect(refused).toMatchObject({ code: 'not_admitted', details: { where: 'here', reason: why } });
      if (why === 'timeline')
        expect(refused).toMatchObject({ details: { expected: 'timeline 1, as it was admitted' } });
      expect(sent.filter(({ text }) => !/^\s*SELECT/.test(text))).toEqual([]);
    }
  });

  it('a take that the database itself refuses is told in the same words [FLEET-9]', async () => {
    let looked = 0;
    const { shared } = sharedOf((sent) => {
      if (sent.text.includes('SET epoch')) {
        const cause = Object.assign(new Error('not admitted'), { code: 'RP001', severity: 'ERROR' });
        throw new RepriseError('store_failed', 'cannot open the world', { cause });
      }
      if (sent.text === 'SELECT reprise.why_not_admitted()') return [['timeline']];
      looked++;
      return free(null)(sent);
    });
    await expect(takeWorld(shared, 'a', 'here')).rejects.toMatchObject({
      code: 'not_admitted',
      details: { reason: 'timeline' },
    });
    expect(looked).toBeGreaterThan(0);
  });
});

describe('an owner of a world', () => {
  /** What each write of an owner sends first, when the database answers that another one has the world. */
  const WRITES: Readonly<Record<string, (store: OpenStore) => Promise<unknown>>> = {
    append: (store) => store.journal.append([frameOf(0, 300)], EMPTY_HEAD),
    head: (store) => store.journal.head(),
    mark: (store) => store.mark('a note'),
    post: (store) => store.post?.('a text') ?? Promise.resolve(),
    'large content': (store) =>
      store.content.putStream(
        (async function* () {
          yield new Uint8Array(3 * 1024 * 1024);
        })(),
      ),
    erase: (store) => store.content.erase([Ref.fromHex('ab'.repeat(32))], 0),
  };

  it('every write of an owner compares the incarnation of the database beside the epoch, and so does its head [FLEET-10]', async () => {
    for (const [name, write] of Object.entries(WRITES)) {
      const { shared, sent } = sharedOf(free(null));
      const store = await worldStore(
        { shared: async () => shared, reading: () => Promise.reject(new Error('none')) },
        'db',
        'a',
      ).open();
      sent.length = 0;
      await expect(write(store), name).rejects.toMatchObject({ code: 'fenced' });
      const [first] = sent;
      const compares =
        first?.text.includes(`c.incarnation = '${FIRST}'`) || first?.parameters.includes(FIRST) || name === 'head';
      expect([name, compares]).toEqual([name, true]);
    }
  });

  it('a head that the database has in another incarnation is not the head of its owner [FLEET-10]', async () => {
    let now = FIRST;
    const { shared } = sharedOf((sent) =>
      sent.text.startsWith('SELECT seq, head, epoch') ? [[-1, HEAD, 4, now]] : free(null)(sent),
    );
    const store = await worldStore(
      { shared: async () => shared, reading: () => Promise.reject(new Error('none')) },
      'db',
      'a',
    ).open();
    expect(await store.journal.head()).toEqual(EMPTY_HEAD);
    now = FIRST.replaceAll('1', '2');
    await expect(store.journal.head()).rejects.toMatchObject({ code: 'fenced' });
  });
});
