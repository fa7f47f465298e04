/** What would have happened with another outcome: dry forks in which one effect ends otherwise. The adversary is the recorded outcome. */
import { describe, expect, it } from 'vitest';
import { forkReport, memory, type OtherOutcome, type Store, type World } from '../../../src/index.js';
import { closeSound, codeOf, recordsOf } from '../../support/judge.js';
import { ask, seen, start } from '../../support/lab.js';
import { ok } from '../../support/outside.js';
import { app, forked, given } from './given-fork.js';

/** A world in which each of three effects was answered with the next number. */
async function past() {
  const { world, store, adapters } = await given();
  let n = 0;
  adapters[0].answerAll(() => ok({ got: ++n }));
  await ask(world, 'a', [start('twice', 'x')], { id: 'r1' });
  await world.pump();
  await ask(world, 'b', [start('once', 'y')], { id: 'r2' });
  await world.pump();
  const effects = (await recordsOf(store, 'effect')).map(({ effect }) => ({ id: effect }));
  return { world, store, effects };
}

async function fed(world: World, store: Store, at: number, instead: Readonly<Record<string, OtherOutcome>>) {
  const made = await forked(world, { at, instead }, { drive: 'manual' });
  await made.fork.feed(await store.openReadonly());
  const report = await forkReport(await made.store.openReadonly(), await store.openReadonly());
  return { ...made, report };
}

describe('given a dry fork in which an effect ends otherwise', () => {
  it('each effect, given another outcome at each cut before its receipt, ends with that outcome in the fork and its report, and the fork verifies [FORK-3, FORK-11]', async () => {
    const { world, store, effects } = await past();
    const receipts = new Map((await recordsOf(store, 'receipt')).map(({ seq, effect }) => [effect, seq]));
    for (const { id } of effects)
      for (let at = 0; at < (receipts.get(id) ?? 0); at++) {
        const {
          fork,
          store: copy,
          calls,
          report,
        } = await fed(world, store, at, { [id]: { status: 'error', code: 'adapter_error/lost' } });
        const told = [...((await seen(fork, 'a')) ?? []), ...((await seen(fork, 'b')) ?? [])].join(' ');
        expect(told, `${id} at ${at}`).toContain('"error"');
        expect(report.instead).toEqual([
          { effect: id, receipt: expect.objectContaining({ adapter: 'fork', by: 'operator' }) },
        ]);
        expect(calls()).toBe(0);
        await closeSound(fork, copy, app);
      }
    await closeSound(world, store, app);
  });

  it('an outcome that equals the recorded one changes nothing that the cells see', async () => {
    const { world, store, effects } = await past();
    const instead = { [effects[0]?.id ?? '']: { status: 'ok', payload: { got: 1 } } } as const;
    const { fork, store: copy, report } = await fed(world, store, 0, instead);
    for (const key of ['a', 'b']) expect(await seen(fork, key)).toEqual(await seen(world, key));
    expect([report.unmatched, report.unused]).toEqual([[], []]);
    await closeSound(fork, copy, app);
    await closeSound(world, store, app);
  });

  it.each<[string, (id: string) => object]>([
    ['an effect that the original does not have', () => ({ instead: { [`${'0'.repeat(64)}`]: { status: 'ok' } } })],
    [
      'a payload that the effect could not have returned',
      (id) => ({ instead: { [id]: { status: 'ok', payload: 7 } } }),
    ],
    ['no status', (id) => ({ instead: { [id]: { payload: { got: 1 } } } })],
    ['a live fork', (id) => ({ mode: 'live', instead: { [id]: { status: 'ok', payload: { got: 1 } } } })],
    ['contents that are no bytes', (id) => ({ instead: { [id]: { status: 'error', contents: ['text'] } } })],
    ['an effect that was settled before the cut', (id) => ({ at: 99, instead: { [id]: { status: 'error' } } })],
  ])('given %s, the fork is refused, and the world goes on', async (_, optionsOf) => {
    const { world, store, effects } = await past();
    const options = optionsOf(effects[0]?.id ?? '');
    const at = 'at' in options ? world.head.seq : 0;
    expect(await codeOf(world.fork({ ...options, at, into: memory() } as never))).toBe('invalid_argument');
    await closeSound(world, store, app);
  });
});
