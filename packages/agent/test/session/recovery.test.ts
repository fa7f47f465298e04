/** Runs that outlive the process that began them. */
import { RepriseError } from '@reprise/contracts';
import { type Journal, memory, type Store } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool, type Tool } from '../../src/index.js';
import { crashed, gate, HASTY, play, type Step } from './scene.js';

/** A tool that never ends, and how often it began, by idempotency key. */
function endless(delivery: 'idempotent' | 'at_most_once') {
  const begun: string[] = [];
  const entered = gate();
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    args: z.strictObject({}),
    delivery,
    run: (_, { idempotencyKey }) => {
      begun.push(idempotencyKey);
      entered.open();
      return begun.length > 1 && delivery === 'idempotent' ? 'done' : new Promise<string>(() => undefined);
    },
  });
  return { tools: [tool] as unknown as Tool<never>[], begun, entered: entered.opened };
}

const CALL: Step = { calls: [{ id: 'a', tool: 'work' }] };

/** Begins a run whose call is under way when the process is gone. */
async function dieInside(store: Store, work: ReturnType<typeof endless>): Promise<void> {
  await play({ steps: [CALL], store, tools: work.tools, clock: HASTY, goesOn: true }, async ({ session }) => {
    await session.send('Go');
    await work.entered;
  });
}

describe('a call that was under way', () => {
  it('given it may happen once, it is not repeated; the model is told that nobody knows, and goes on', async () => {
    const store = memory();
    const work = endless('at_most_once');
    await dieInside(store, work);
    await play(
      { steps: [{ text: 'I will look.' }], store: crashed(store), tools: work.tools },
      async ({ session, llm }) => {
        const run = await session.run(0);
        expect(await run?.text()).toBe('I will look.');
        expect(llm.asked[0]).toEqual(['user: Go', 'assistant: work a', 'error a: (outcome_unknown)']);
      },
    );
    expect(work.begun).toHaveLength(1);
  });

  it('given it may be repeated, it is performed again under the same key', async () => {
    const store = memory();
    const work = endless('idempotent');
    await dieInside(store, work);
    await play({ steps: [{ text: 'Good.' }], store: crashed(store), tools: work.tools }, async ({ session, llm }) => {
      expect(await (await session.run(0))?.text()).toBe('Good.');
      expect(llm.asked[0]?.at(-1)).toBe('tool a: done');
    });
    expect(work.begun).toHaveLength(2);
    expect(new Set(work.begun).size).toBe(1);
  });

  it('given a close that waits, a handler that does not stop is reported as unknown, not as cancelled', async () => {
    const store = memory();
    const work = endless('at_most_once');
    await play({ steps: [CALL], store, tools: work.tools, goesOn: true }, async ({ session }) => {
      await session.send('Go');
      await work.entered;
    });
    await play({ steps: [{ text: 'I see.' }], store, tools: work.tools }, async ({ session, llm }) => {
      expect(await (await session.run(0))?.text()).toBe('I see.');
      expect(llm.asked[0]?.at(-1)).toBe('error a: (outcome_unknown)');
    });
    expect(work.begun).toHaveLength(1);
  });
});

describe('a run that was under way', () => {
  it('goes on with its model call as the next attempt, and its events tell one story', async () => {
    const store = memory();
    const never = gate();
    const asked = gate();
    const first: string[] = [];
    await play(
      { steps: [{ after: never.opened, answer: { text: 'x' } }], store, goesOn: true },
      async ({ session, llm }) => {
        const run = await session.send('Go');
        const reading = (async () => {
          for await (const event of run.events()) first.push(`${event.cursor} ${event.type}`);
        })();
        while (llm.attempts.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        asked.open();
        void reading.catch((error: unknown) => first.push(String((error as { code?: unknown }).code)));
      },
    );
    await play({ steps: [{ text: 'Here.' }], store }, async ({ session, llm }) => {
      const run = await session.run(0);
      expect(run?.number).toBe(0);
      const again: string[] = [];
      for await (const event of run?.events() ?? []) again.push(`${event.cursor} ${event.type}`);
      expect(first.pop()).toBe('world_closed');
      expect(again.slice(0, first.length)).toEqual(first);
      expect(llm.attempts).toEqual([2]);
      expect(await run?.text()).toBe('Here.');
      expect((await session.state())?.runs).toBe(1);
    });
  });

  it('and the inputs that wait behind it are there after a crash, in order', async () => {
    const store = memory();
    const never = gate();
    await play(
      { steps: [{ after: never.opened, answer: {} }], store, clock: HASTY, goesOn: true },
      async ({ session }) => {
        for (const text of ['1', '2', '3']) await session.send(text, { id: text });
      },
    );
    await play(
      { steps: [{ text: 'a' }, { text: 'b' }, { text: 'c' }], store: crashed(store) },
      async ({ session, llm }) => {
        expect((await session.send('3', { id: '3' })).number).toBe(2);
        expect(await (await session.run(2))?.text()).toBe('c');
        expect(await (await session.run(0))?.text()).toBe('a');
        expect(llm.asked.at(-1)).toEqual(['user: 1', 'assistant: ', 'user: 2', 'assistant: ', 'user: 3']);
      },
    );
  });

  it('whose world is brought down by its store says by what, and goes on when it is opened again', async () => {
    const store = memory();
    let broken = false;
    const failing: Store = {
      ...store,
      open: async () => {
        const open = await store.open();
        const append: Journal['append'] = (frames, expected) => {
          if (broken) throw new RepriseError('store_failed', 'the disk is gone');
          return open.journal.append(frames, expected);
        };
        return { ...open, journal: { ...open.journal, append } };
      },
    };
    const held = gate();
    const steps: Step[] = [{ after: held.opened, answer: { text: 'x' } }];
    await play({ steps, store: failing, goesOn: true }, async ({ session }) => {
      const run = await session.send('Go');
      broken = true;
      held.open();
      await expect(run.result()).rejects.toMatchObject({ code: 'store_failed' });
    });
    await play({ steps: [{ text: 'y' }], store: crashed(store) }, async ({ session }) => {
      expect(await (await session.run(0))?.text()).toBe('y');
    });
  });

  it('ended before: its outcome is read from the journal, without a model', async () => {
    const store = memory();
    await play(
      { steps: [{ text: 'Hello.' }], store },
      async ({ session }) => void (await (await session.send('Hi')).text()),
    );
    await play({ steps: [], store }, async ({ session }) => {
      expect(await (await session.run(0))?.text()).toBe('Hello.');
      expect(await session.run(1)).toBeUndefined();
    });
  });
});
