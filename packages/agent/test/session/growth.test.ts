/** What a session costs does not depend on how old it is. */
import { encode, memory } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool, type Tool } from '../../src/index.js';
import { play, type Step } from './scene.js';

const TURNS = 200;
const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  args: z.strictObject({}),
  delivery: 'idempotent',
  run: () => 'ho',
});

describe(`a session of ${TURNS} turns`, () => {
  it('has the state, and writes the frames, of its first turns; snapshots, reopening and replay included', async () => {
    const store = memory();
    const steps = (n: number): Step[] =>
      Array.from({ length: n }, () => [{ calls: [{ id: 'a', tool: 'echo' }] }, { text: 'Done.' }]).flat();
    const stateBytes: number[] = [];
    let items = 0;
    const half = { store, tools: [echo] as unknown as Tool<never>[], snapshotEvery: 150 };
    for (const begin of [0, TURNS / 2]) {
      await play({ ...half, steps: steps(TURNS / 2) }, async ({ session, world, llm }) => {
        for (let turn = begin; turn < begin + TURNS / 2; turn++) {
          const run = await session.send(`turn ${turn}`);
          expect(await run.text()).toBe('Done.');
          stateBytes.push(encode((await session.state()) as never).length);
        }
        items = 4 * (begin + TURNS / 2);
        expect(llm.asked.at(-1)).toHaveLength(items - 1);
        expect(llm.asked.at(-1)?.[0]).toBe('user: turn 0');
        expect((await world.verify()).performed).toBe(world.kernel.head.seq + 1);
      });
    }
    expect(items).toBe(4 * TURNS);
    // Counters gain digits: a byte each, three times at most.
    expect(Math.max(...stateBytes) - Math.min(...stateBytes)).toBeLessThanOrEqual(16);
    const reader = await store.openReadonly();
    const sizes: number[] = [];
    for await (const frame of reader.journal.read(0)) if (frame.kind === 'receipt') sizes.push(frame.bytes.length);
    const [young, old] = [sizes.slice(30, 90), sizes.slice(-60)].map((part) => Math.max(...part)) as [number, number];
    expect(old).toBeLessThan(young + 64);
  });
});
