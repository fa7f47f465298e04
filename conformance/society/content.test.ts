/** Entities of random societies are shown exactly what they may read at that time, by every path. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { foundBy } from '../broken-build.js';
import { judgeContent } from './content/judge.js';

const SEED = Number(process.env.REPRISE_SEED ?? 36);
const WORLDS = 40;
const LAWS = fileURLToPath(new URL('content/laws.ts', import.meta.url));
const source = (file: string) => fileURLToPath(new URL(`../../packages/${file}`, import.meta.url));

const INBOX = 'society/src/pure/reducer/published.ts';
const NEWS = 'society/src/pure/reducer/news.ts';
const GATE = 'society/src/pure/plans/content-gate.ts';
const BOARD = 'society/src/pure/reducer/board-reading.ts';
const SERVED = 'society/src/served/inbox.ts';
const MEMORY = 'memory/src/pure/effects.ts';

/** A mistake for each path by which content reaches an entity. */
const MUTANTS: readonly (readonly [what: string, file: string, from: string, to: string])[] = [
  [
    'news of a chatty group enters inboxes by membership alone',
    INBOX,
    "if (!seen.some(({ verdict }) => verdict !== 'denied')) return;",
    '',
  ],
  ['news on a board enters inboxes by membership alone', BOARD, 'if (isOfItem({ event }) && !sees) return false;', ''],
  [
    'reads and news are not judged for the store',
    MEMORY,
    "rights: { mem_read: 'store' },\n    settledBy: 'at',",
    "settledBy: 'at',",
  ],
  ['a denial counts as something that is read later', GATE, "? 'denied' : 'later'", "? 'later' : 'later'"],
  [
    'words of items that are not in use are shown',
    GATE,
    "return state === 'live' &&",
    "return state !== 'quarantined' &&",
  ],
  ['what is shown to a suspended agent enters its session at once', INBOX, 'mayOperate(draft) && !isLater', '!isLater'],
  ['news goes to sessions that do not run', INBOX, '(open && running ? [name] : [])', '(open ? [name] : [])'],
  ['news for a next run is never shown', INBOX, 'show: steer && running.length === 0', 'show: false'],
  ['what a run was shown is not marked as shown', NEWS, '{ ...row, show: false }', '{ ...row, show: true }'],
  [
    'clients are told of items that their entity may not read',
    SERVED,
    'store === undefined || (await reaches(kernel, id, store))',
    'true',
  ],
  [
    'a resource shows boards without a reading',
    SERVED,
    'if (unread !== undefined) await',
    'if (unread === null) await',
  ],
  [
    'a search is not judged for the store',
    MEMORY,
    "rights: { mem_read: 'store' },\n  }),\n);\n\n/** A step",
    '  }),\n);\n\n/** A step',
  ],
  [
    'items in quarantine are listed to others than their author',
    'society/src/pure/plans/memory.ts',
    "item.state === 'live' || isOwn(own, item)",
    "item.state === 'live' || item.state === 'quarantined'",
  ],
  [
    'a person is shown the words of a group that it left',
    'society/src/pure/reducer/may-ask.ts',
    "if (group !== undefined) return tableOf(ctx, 'memberships').get(group) !== undefined;",
    'if (group !== undefined) return true;',
  ],
];

describe('content in random societies', () => {
  it(`Requests to the model, inboxes, resources, clients and reads have what the rules say, in ${WORLDS} worlds from seed ${SEED} [SOC-91] [SOC-92] [SOC-93] [SOC-94]`, async () => {
    const found = await judgeContent(WORLDS, SEED);
    expect(found.first ?? '').toBe('');
    expect(found.worlds).toBe(WORLDS);
    expect(Math.min(found.shown, found.withheld)).toBeGreaterThan(WORLDS);
  });

  it.each(MUTANTS)('A disagreement is found when %s', async (_what, file, from, to) => {
    expect(await foundBy(LAWS, 'content', { file: source(file), from, to })).toMatch(/^seed \d+: .*expected/s);
  });

  it('The oracle imports the oracle of rights alone', () => {
    const text = readFileSync(path.join(import.meta.dirname, 'content/expected.ts'), 'utf8');
    expect([...text.matchAll(/from '(.*)'/g)].map(([, from]) => from)).toEqual(['../oracle.js']);
  });
});
