/** The auditor of the simulator, fed with journals that break one promise each: every one of its rules has a mutant. */
import type { JournalRecord } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { JournalAuditor } from '../../src/simulator/journal-auditor.js';

const EFFECT = 'e'.repeat(64);
const PLAN = ['demo/Cell@1', 'a', 0] as const;

type Frame = readonly Record<string, unknown>[];

const request = (seq: number, id: string, ...rest: Frame): Frame => [
  {
    kind: 'request',
    seq,
    at: 10 + seq,
    principal: 'operator',
    id,
    to: ['demo/Cell@1', 'a'],
    event: { name: 'x', value: {} },
  },
  ...rest,
];
const receipt = (seq: number, attempt: number, status: string, ...rest: Frame): Frame => [
  { kind: 'receipt', seq, at: 10 + seq, principal: 'operator', effect: EFFECT, attempt, receipt: { status } },
  ...rest,
];
const begins = { kind: 'intent', c: 0, plan: PLAN, name: 'demo/plan@1', input: null };
const ends = { kind: 'plan_ended', c: 0, plan: PLAN, status: 'ok', code: null };
const emits = { kind: 'effect', c: 1, effect: EFFECT, plan: PLAN, name: 'demo.pay@1', guarantee: 'at_most_once' };
const starts = (attempt: number) => ({ kind: 'attempt', effect: EFFECT, attempt });
const settled = { kind: 'settled', c: 0, effect: EFFECT, status: 'cancelled', by: 'cancel' };
const late = { kind: 'late', c: 0, effect: EFFECT, status: 'ok', settled: 'cancelled' };
const tells = { kind: 'event', c: 0, to: ['demo/Cell@1', 'a'], from: null, event: { name: 'y', value: {} } };

function verdict(...frames: readonly Frame[]): string {
  const auditor = new JournalAuditor();
  try {
    for (const frame of frames) auditor.read(frame as unknown as readonly JournalRecord[]);
    return 'sound';
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

const started = request(0, 'q', begins, emits, starts(1));

describe('a journal', () => {
  it('a journal in which an effect is emitted, starts and is settled is sound', () => {
    expect(verdict(started, receipt(1, 1, 'ok', ends))).toBe('sound');
    expect(verdict(started, request(1, 'r', settled), receipt(2, 1, 'ok', late, { ...tells, c: 1 }))).toBe('sound');
  });

  it.each<[string, RegExp, readonly Frame[]]>([
    ['with a gap', /frame 2 comes after frame 0/, [request(0, 'q'), request(2, 'r')]],
    ['whose time goes back', /older than/, [request(0, 'q'), [{ ...request(1, 'r')[0], at: 1 }]]],
    [
      'with a request twice',
      /operator q is journaled in frame 0 and again in frame 1/,
      [request(0, 'q'), request(1, 'q')],
    ],
    ['with an effect twice', /emitted twice/, [request(0, 'q', begins, emits, emits)]],
    ['whose plan emits after its end', /which has ended/, [request(0, 'q', begins, ends, emits)]],
    ['whose effect starts twice at once', /attempt 1 after attempt 1/, [started, request(1, 'r', starts(1))]],
    ['whose effect starts again', /may happen once and starts again/, [started, request(1, 'r', starts(2))]],
    ['whose effect starts after its end', /is settled/, [started, receipt(1, 1, 'ok'), request(2, 'r', starts(2))]],
    ['with a receipt of another attempt', /for attempt 2/, [started, receipt(1, 2, 'ok')]],
    [
      'whose effect is settled twice',
      /settled as ok and again/,
      [started, receipt(1, 1, 'ok'), request(2, 'r', settled)],
    ],
    [
      'with a late answer that is not recorded',
      /is not recorded/,
      [started, request(1, 'r', settled), receipt(2, 1, 'ok')],
    ],
    [
      'with a late answer that moves',
      /kind event/,
      [started, request(1, 'r', settled), receipt(2, 1, 'ok', late, tells)],
    ],
    ['with an unknown effect', /never emitted/, [receipt(0, 1, 'ok')]],
    ['whose plan begins twice', /begins twice/, [request(0, 'q', begins, begins)]],
    ['whose plan ends twice', /ends twice/, [request(0, 'q', begins, ends, ends)]],
  ])('%s is found', (_, why, frames) => {
    expect(verdict(...frames)).toMatch(why);
  });
});
