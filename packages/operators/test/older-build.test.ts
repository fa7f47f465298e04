/**
 * The answers that need no replay, on worlds that other builds wrote. The adversary is an older build: one world is of the build
 * before receipts stated `asked`, whose definitions today's app does not have; the other is the golden world of this semantics.
 */
import { readFileSync } from 'node:fs';
import { type ReadonlyStore, readFrame, worldAt } from '@reprise/kernel';
import { loadWorld } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { allPackages } from '../../cli/src/world/built-in.js';
import { attemptsOf } from '../src/attempts/index.js';
import { costOf } from '../src/cost/index.js';
import { diffOf } from '../src/diff/index.js';
import { memoryOf } from '../src/memory/index.js';
import { nowOf } from '../src/now/index.js';
import { requestOf } from '../src/prompt/index.js';
import { readersOf } from '../src/readers/index.js';
import { rightsAt } from '../src/rights/index.js';
import { partsOf, sessionsOf } from '../src/sessions/index.js';
import { type StoryEntry, storyOf } from '../src/story/index.js';
import { pendingIn } from '../src/waiting/index.js';
import { waitingFoldAt } from '../src/waiting/world-state.js';

const GOLDEN = new URL('../../../conformance/golden/6/session.world', import.meta.url);
/** The golden world of c10df6b6, a build of 2026-11-29. */
const OLDER = new URL('older/session.world', import.meta.url);

const opened = async (file: URL): Promise<ReadonlyStore> =>
  (await loadWorld(new Uint8Array(readFileSync(file)))).openReadonly();

/** The same file to a reader that finds no snapshot: everything follows from the frames alone. */
function framesAlone(store: ReadonlyStore): ReadonlyStore {
  const { journal } = store;
  return {
    ...{
      content: store.content,
      close: () => store.close(),
      ...(store.hash === undefined ? {} : { hash: store.hash }),
    },
    journal: {
      head: () => journal.head(),
      read: (from, to) => journal.read(from, to),
      findKey: (key) => journal.findKey(key),
      findLast: async (kind, seq) => (kind === 'snapshot' ? undefined : journal.findLast(kind, seq)),
    },
  };
}

/** What the answers say, without the places that a reader from a snapshot on does not see. */
async function said(store: ReadonlyStore, at: number) {
  const { waiting, unfinished } = await pendingIn(store, { at });
  const { sessions } = await sessionsOf(store, { at });
  const now = await nowOf(store, { at });
  return {
    waiting: waiting.map(({ id, kind, what, to }) => [id, kind, what, to]),
    unfinished: unfinished.map(({ of, lifecycle, doing }) => [of, lifecycle, doing]),
    sessions: sessions.map(({ of, lifecycle, items }) => [of, lifecycle, items]),
    parts: await partsOf(store, { at }),
    cost: await costOf(store, { at, by: ['agent', 'model'] }),
    again: (await attemptsOf(store, { at })).rows,
    now: [now.failed, now.words, now.pending.waiting.length, now.pending.unfinished.length],
  };
}

describe.each([
  ['the build before receipts stated whom they asked', OLDER, 'era_unverified'],
  ['the build of the golden world', GOLDEN, null],
] as const)('a world of %s', (_, file, refusal) => {
  it('after each frame, the answers from the newest snapshot on are those that follow from the frames alone', async () => {
    const store = await opened(file);
    const { seq } = await store.journal.head();
    expect(seq).toBe(19);
    for (let at = 0; at <= seq; at++)
      expect([at, await said(store, at)]).toEqual([at, await said(framesAlone(store), at)]);
  });

  it('at each snapshot, the effects that follow from the frames alone are those that the snapshot holds', async () => {
    const store = await opened(file);
    const { app } = await allPackages();
    let snapshots = 0;
    for await (const { seq, kind } of store.journal.read(0)) {
      if (kind !== 'snapshot') continue;
      const { effects } = (await waitingFoldAt(framesAlone(store), seq)).state;
      const held = (await worldAt(store, app, seq)).openEffects();
      expect(effects.map(({ effect, name, plan, attempt }) => [effect, name, plan[0], plan[1], attempt])).toEqual(
        held.map(({ effect, name, cell, attempt }) => [effect, name, cell[0], cell[1], attempt]),
      );
      snapshots++;
    }
    expect(snapshots).toBeGreaterThan(2);
  });

  it('the cost of the world is that of its receipts, by the model that each of them names, wherever it stands in them', async () => {
    const store = await opened(file);
    let tokens = 0;
    for await (const { seq, bytes } of store.journal.read(0))
      for (const record of readFrame(bytes, seq).all)
        if (record.kind === 'receipt') tokens += record.receipt.usage?.tokens_in ?? 0;
    const { rows, total } = await costOf(store, { by: ['model'] });
    expect([total.tokens_in, tokens]).toEqual([60, 60]);
    expect(rows.map(({ keys, calls }) => [...keys, calls])).toEqual([
      ['script', 6],
      [null, 1],
    ]);
  });

  it('the story in pages of every size is the whole story, and each call of a model can be shown', async () => {
    const store = await opened(file);
    const whole = (await storyOf(store, { limit: 1_000 })).entries;
    for (const limit of [1, 3, 7]) {
      const found: StoryEntry[] = [];
      for (let before: string | undefined; ; ) {
        const page = await storyOf(store, { limit, ...(before === undefined ? {} : { before }) });
        found.unshift(...page.entries);
        if (page.before === null) break;
        before = page.before;
      }
      expect([limit, found]).toEqual([limit, whole]);
    }
    const answers = whole.filter(({ kind }) => kind === 'answer');
    expect(answers.length).toBeGreaterThan(3);
    for (const { place } of answers) {
      const { parts, asked, sent } = await requestOf(store, place);
      // Its script stated a digest of nothing, so no bytes are shown as those that were sent.
      const said = [parts.length > 0, asked?.model, sent.recorded, sent.isSame === true, sent.body];
      expect([place, ...said]).toEqual([place, true, 'script', '00'.repeat(32), false, undefined]);
    }
  });

  it('an answer that needs a replay is given, or refused with the code of an era that no app can replay', async () => {
    const store = await opened(file);
    const { app } = await allPackages();
    const { seq } = await store.journal.head();
    const asked: Readonly<Record<string, () => Promise<unknown>>> = {
      diff: () => diffOf(store, { app }, { a: 2, b: seq }),
      rights: () => rightsAt(store, { app }, 'operator'),
      memory: () => memoryOf(store, { app }),
      readers: () => readersOf(store, { app }, 'group:none'),
    };
    for (const [what, ask] of Object.entries(asked)) {
      const code = await ask().then(
        () => null,
        (error: { readonly code?: string }) => error.code,
      );
      const own = what === 'readers' ? 'invalid_argument' : null; // there is no such store
      expect([what, code]).toEqual([what, refusal ?? own]);
    }
  });
});
