/** What the verbs print of a world with a swarm, and how much of a journal its last lines cost. */
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { openKernelWorld } from '@reprise/kernel';
import { societyReport } from '@reprise/operators';
import { RecentReader } from '@reprise/operators/story';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import app from '../apps/app.js';
import { run, runOn } from '../run.js';
import { add, freshFolder } from '../worlds.js';
import { makeMemories } from './memory-scene.js';
import { makeSwarm } from './scene.js';

const folder = freshFolder();
const path = folder.file('swarm.db');
const memories = folder.file('memories.db');
beforeAll(async () => {
  await makeSwarm(path);
  await makeMemories(memories);
});
afterAll(() => folder.remove());

/** The words of a command with the path of the world behind its verb. */
function placed([verb = '', ...more]: readonly string[], file = path): string[] {
  return verb === 'society' ? [verb, ...more, file] : [verb, file, ...more];
}

describe('names in place of ids', () => {
  it.each([
    'log',
    'log -n 20',
    'tail',
    'waiting',
    'waiting --at 12',
    'cost --by agent,day,node,task,model',
    'diff 2 16',
    'trouble --all',
    'why market',
    'society show',
    'rights cell:society/Swarm@1/markets',
    'prompt last',
    'memory',
    'trust',
  ])(
    'given a world with a swarm, when reprise %s prints it as text, then no id of 32 digits stands in it',
    async (words) => {
      const { out, err } = await run(...placed(words.split(' ')));
      expect(err).toBe('');
      expect(out).not.toBe('');
      expect(out.match(/[0-9a-f]{32,}/g) ?? []).toEqual([]);
    },
  );

  it.each([
    'memory',
    'memory group:crew',
    'memory group:crew#2',
    'readers group:crew#2',
    'trust',
    'why order.ts',
    'log',
    'tail -n 40',
    'diff 2 40',
    'waiting --at 30',
    'trouble --all',
    'society show',
    'cost --by agent,day,node,task,model',
    'prompt last',
    'rights cell:society/Entity@1/ann',
  ])(
    'given a world in which agents keep memories, when reprise %s prints it as text, then no id of 32 digits stands in it',
    async (words) => {
      const { out, err } = await run(...placed(words.split(' '), memories));
      expect([out, err]).not.toEqual(['', '']);
      expect(`${out}${err}`.match(/[0-9a-f]{32,}/g) ?? []).toEqual([]);
    },
  );

  it('given an audit of a society, when it is printed as text, then no id of 32 digits stands in it, and --json has them whole', async () => {
    expect((await run('society', 'audit', path)).out.match(/[0-9a-f]{32,}/g) ?? []).toEqual([]);
    expect((await run('society', 'audit', path, '--json')).out).toMatch(/"agent_id":"[0-9a-f]{64}"/);
  });

  it('given a society with a swarm, when it is shown, then its people, agents, groups, slots are named, and its JSON has the schema', async () => {
    const { out } = await run('society', 'show', path);
    expect(out).toMatch(/\nann: person, active\n/);
    expect(out).toMatch(/\n {2}scout 0 of markets·[0-9a-f]{4}: swarm-worker, \w+/);
    expect(out).toMatch(/\nswarm markets: \w+, broadcast, by ann, 0 open tasks/);
    const report = societyReport.parse(JSON.parse((await run('society', 'show', path, '--json')).out));
    expect(report.swarms[0]?.slots.map(({ slot, index }) => `${slot} ${index}`)).toEqual([
      'scout 0',
      'scout 1',
      'scout 2',
    ]);
    expect(report.groups).toHaveLength(1);
    const early = JSON.parse((await run('society', 'show', path, '--json', '--at', '0')).out);
    expect(early).toMatchObject({ frame: 0, entities: [], swarms: [] });
    const narrow = await runOn(60, 'society', 'show', path);
    expect(narrow.out.split('\n').filter((line) => line.length > 60)).toEqual([]);
  });

  it('given the log of a swarm, when its sessions are printed, then they bear the names of their agents', async () => {
    const { out } = await run('log', path);
    expect(out).toMatch(/ scout 0 of markets·[0-9a-f]{4}\/j1 /);
    const lines = out.split('\n').slice(0, -1);
    const last = await run('log', path, '-n', '25');
    expect(last.out).toBe(
      lines
        .slice(-25)
        .map((line) => `${line}\n`)
        .join(''),
    );
  });

  it('given calls of members of a swarm, when their cost is summed by agent, then each has the name of its agent', async () => {
    const { rows } = JSON.parse((await run('cost', path, '--json')).out);
    expect(rows).toMatchObject([0, 1, 2].map((n) => ({ keys: [`scout ${n} of markets`], calls: 1 })));
  });
});

describe('the price of the last lines', () => {
  it('given two worlds of 200 and of 2,000 frames, when the last 20 entries are read, then the same number of frames is', async () => {
    const counts: number[] = [];
    for (const frames of [200, 2_000]) {
      const file = folder.file(`${frames}.db`);
      await using world = await openKernelWorld({ store: sqlite(file), app, snapshotEvery: 1_000_000 });
      while (world.head.seq < frames) await Promise.all(Array.from({ length: 50 }, () => add(world, 1)));
      const store = await sqlite(file).openReadonly();
      const counted = new Counted(store);
      const reader = new RecentReader(counted.store, () => ({
        entriesOf: async ({ seq }: Omit<StoredFrame, 'bytes'>) => [seq],
      }));
      const { seq } = await store.journal.head();
      expect(await reader.last(seq, 20)).toEqual(Array.from({ length: 20 }, (_, i) => seq - 19 + i));
      counts.push(counted.frames);
      await store.close();
    }
    expect(counts).toEqual([20, 20]);
  });
});

/** A store that counts the frames that are read. */
class Counted {
  frames = 0;
  readonly store: ReadonlyStore;

  constructor(store: ReadonlyStore) {
    const count = (): void => {
      this.frames++;
    };
    this.store = {
      ...store,
      content: store.content,
      close: () => store.close(),
      journal: {
        head: () => store.journal.head(),
        findKey: (key) => store.journal.findKey(key),
        findLast: (kind, seq) => store.journal.findLast(kind, seq),
        async *read(from, to) {
          for await (const frame of store.journal.read(from, to)) {
            count();
            yield frame;
          }
        },
      },
    };
  }
}
