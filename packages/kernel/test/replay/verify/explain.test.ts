/** What a divergence says: the first record that differs, where in it, and what led to it. */
import type { JournalRecord } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { explain } from '../../../src/replay/verify/era/divergence.js';

const record = (fields: object) => fields as unknown as JournalRecord;
const REQUEST = record({ kind: 'request', to: ['shop/Order@1', 'o1'], event: { name: 'shop/Paid@1', value: 1 } });
const TIMER = record({ kind: 'timer', cell: ['shop/Order@1', 'o1'], name: 'late' });
const STATE = record({ kind: 'state', leaves: [] });
const fact = (name: string, c = 0) => record({ kind: 'fact', c, name, value: name });
const effect = (id: string, cents: number) =>
  record({ kind: 'effect', c: 1, effect: id, name: 'shop.pay@1', params: { cents } });

describe('the first difference between a frame and the same replayed', () => {
  it.each<[string, readonly JournalRecord[], readonly JournalRecord[], object]>([
    [
      'a record that is missing',
      [REQUEST, fact('shop/Told@1')],
      [REQUEST],
      { i: 1, kind: 'fact', path: '$', regenerated: undefined },
    ],
    [
      'a record too many',
      [REQUEST],
      [REQUEST, fact('shop/Told@1')],
      { i: 1, kind: 'fact', path: '$', recorded: undefined },
    ],
    [
      'a record of another kind',
      [REQUEST, fact('shop/Told@1')],
      [REQUEST, STATE],
      { i: 1, kind: 'fact', path: '$', regenerated: { kind: 'state', leaves: [] } },
    ],
    [
      'a fact of another name',
      [REQUEST, fact('shop/Told@1')],
      [REQUEST, fact('shop/Said@1')],
      { path: '$.name', recorded: 'shop/Told@1', regenerated: 'shop/Said@1' },
    ],
    [
      'what an effect is given, and not its id, which follows from that',
      [REQUEST, fact('f'), effect('aa', 1)],
      [REQUEST, fact('f'), effect('bb', 2)],
      { i: 2, path: '$.params.cents', recorded: 1, regenerated: 2 },
    ],
    [
      'the id of an effect, when all else is the same',
      [REQUEST, fact('f'), effect('aa', 1)],
      [REQUEST, fact('f'), effect('bb', 1)],
      { i: 2, path: '$.effect', recorded: 'aa', regenerated: 'bb' },
    ],
    ['nothing, when both are the same', [REQUEST], [REQUEST], { i: 0, kind: 'frame', path: '$', cause: [] }],
  ])('the first difference is %s', (_, recorded, regenerated, expected) => {
    expect(explain(7, recorded, regenerated)).toMatchObject({ seq: 7, ...expected });
  });

  it('the first difference is reported with its causes, back to the input from outside', () => {
    const frame = [TIMER, fact('first'), fact('second', 1), fact('third', 2)];
    const causes = (recorded: readonly JournalRecord[], regenerated: readonly JournalRecord[]) =>
      explain(7, recorded, regenerated).cause;
    const back = ['#3 fact third', '#2 fact second', '#1 fact first', '#0 timer late of shop/Order@1/o1'];
    expect(causes(frame, frame.slice(0, 3))).toEqual(back);
    expect(causes(frame.slice(0, 3), frame)).toEqual(back);
    expect(causes([TIMER], [REQUEST])).toEqual(['#0 timer late of shop/Order@1/o1']);
    expect(causes([REQUEST, STATE], [REQUEST])).toEqual(['#1 state', '#0 request shop/Paid@1 to shop/Order@1/o1']);
  });

  it('the chain of causes ends when damaged records name each other as their cause', () => {
    const circle = [REQUEST, fact('a', 2), fact('b', 1)];
    expect(explain(7, circle, [REQUEST, fact('other', 2)]).cause.at(-1)).toMatch(/^#0 request/);
  });
});
