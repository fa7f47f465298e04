/** What is kept of threads between requests: no more than was told to their principal, and nothing that was erased. */
import type { AgentEvent } from '@reprise/agent';
import { describe, expect, it } from 'vitest';
import { KnownEvents } from '../../src/sessions/known-events.js';
import { agUiWorld } from './support/world.js';

type ThreadSource = Parameters<KnownEvents['of']>[0];

/** A journal in which each frame has one event of each of some sessions. */
class Journal {
  head = -1;
  erased = -1;
  readonly reads: (string | undefined)[] = [];

  thread(session: string, principal = 'human:ann', text = ''): ThreadSource {
    const { head, erased } = this;
    const reads = this.reads;
    return {
      ...{ principal, session, first: 0, head, erased },
      async *read(after) {
        reads.push(after);
        const from = after === undefined ? 0 : Number(after.split('.')[0]) + 1;
        for (let seq = from; seq <= head; seq++)
          yield { event_seq: `${seq}.0`, session_id: session, text } as AgentEvent;
      },
    };
  }
}

const places = (events: readonly AgentEvent[]) => events.map(({ event_seq }) => event_seq);

describe('events of threads between requests', () => {
  it('a later request reads what came since, and has what a first one would read', async () => {
    const [journal, known] = [new Journal(), new KnownEvents()];
    for (journal.head = 0; journal.head < 40; journal.head += 7) {
      const whole = await new KnownEvents().of(journal.thread('a'));
      expect(places(await known.of(journal.thread('a')))).toEqual(places(whole));
    }
    const own = journal.reads.filter((_, i) => i % 2 === 1);
    expect(own).toEqual([undefined, ...[0, 7, 14, 21, 28].map((seq) => `${seq}.999999999`)]);
  });

  it('each principal has its own, an erasure empties all, and the threads are bounded', async () => {
    const [journal, known] = [new Journal(), new KnownEvents()];
    journal.head = 3;
    const readsFor = async (...thread: Parameters<Journal['thread']>) => {
      journal.reads.length = 0;
      await known.of(journal.thread(...thread));
      return journal.reads[0] === undefined ? 'all' : 'the rest';
    };
    expect([await readsFor('a'), await readsFor('a'), await readsFor('a', 'human:bob')]).toEqual([
      'all',
      'the rest',
      'all',
    ]);
    journal.erased = 2;
    expect([await readsFor('a'), await readsFor('a', 'human:bob')]).toEqual(['all', 'all']);
    for (let n = 0; n < 256; n++) await readsFor(`other-${n}`);
    expect(await readsFor('a')).toBe('all');
    await readsFor('large', 'human:ann', 'x'.repeat(9 * 1024 * 1024)); // four events of nine million characters
    expect([await readsFor('a'), await readsFor('large', 'human:ann')]).toEqual(['all', 'all']);
  });

  it('a text that was erased between two requests is told no more', async () => {
    await using served = await agUiWorld();
    const ann = await served.as('human:ann', 't');
    ann.addMessage({ id: 'm1', role: 'user', content: 'My secret word is plum.' });
    await ann.runAgent({ runId: 'r1' });
    const page = await served.as('human:ann', 't');
    await page.runAgent({ runId: 'r2' });
    expect(JSON.stringify(page.messages)).toContain('plum');
    const session = served.world.session('ann/t', served.clerk);
    for await (const item of session.transcript())
      if (item.role === 'user' && item.parts[0]?.kind === 'text')
        await served.world.kernel.erase({ refs: [item.parts[0].text_ref] });
    const later = await served.as('human:ann', 't');
    await later.runAgent({ runId: 'r3' });
    expect(JSON.stringify(later.messages[0])).not.toContain('plum');
  });
});
