import type { JournalRecord } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../../conformance/part.js';
import { hold, SEED } from '../../../support/laws/hold.js';
import { Auditor } from './audit.js';
import { anyHappenings, type Happening, runAndAudit } from './gate-world.js';

const COMMAND = 'npx vitest run packages/kernel/test/pure/engine/gate/gate-world.test.ts';

type Journal = readonly (readonly JournalRecord[])[];

const PROMISE =
  'when their journals are audited, then nothing was done that was not permitted, or reserved, or settled twice';

describe('given random worlds of cells with rights, accounts, people and crashes', () => {
  it(`${PROMISE} (seed ${SEED}) [GATE-9]`, async () => {
    const sum = {
      ...{ effects: 0, started: 0, refused: 0, late: 0, revoked: 0, judged: 0, orphaned: 0, cut: 0, given: 0 },
      ...{ held: 0, failed: 0 },
    };
    const law = fc.asyncProperty(anyHappenings, async (happenings) => {
      const { findings } = await runAndAudit(happenings);
      for (const what of Object.keys(sum) as (keyof typeof sum)[]) sum[what] += findings[what];
    });
    await hold(law, { numRuns: 60 / stepOf(2), command: COMMAND });
    for (const [what, times] of Object.entries(sum)) expect(times, what).toBeGreaterThan(0);
  });
});

/** What may and what may be handed on is told apart only once it was said; a fork goes back to before. */
const SAID_LATER: readonly Happening[] = [
  { step: 'rights', by: 'operator', of: 'r', side: 'exercise', tools: ['hammer'], lastMs: null },
  { step: 'rights', by: 'operator', of: 'r', side: 'grant', tools: ['hammer', 'saw'], lastMs: null },
];

describe('given rights that the original changed after the cut, wider and narrower', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])(
    'a fork %i frames before the head permits no more than the rights at either point [FORK-6]',
    async (back) => {
      const { journal } = await runAndAudit(SAID_LATER);
      const last = journal.findLastIndex(([ingress]) => ingress?.kind === 'command');
      const fork = {
        step: 'fork',
        where: last - back,
        mode: 'live',
        tools: ['hammer', 'saw'],
        tokens: 50,
        goOn: true,
      } as const;
      const emit = { step: 'emit', by: 'a', kind: 'free', tool: 'saw', tokens: 1, guarantee: 'idempotent' } as const;
      const after = { ...emit, timeoutMs: null, leave: false };
      await runAndAudit([...SAID_LATER, fork, after]);
    },
  );
});

/** The changes that an attacker would have to write into a journal to gain a right. */
const FORGERIES: readonly (readonly [what: string, complaint: RegExp, forge: (journal: Journal) => Journal])[] = [
  ['an effect is settled twice', /settled twice/, (journal) => doubled(journal, 'settled')],
  ['an attempt is made twice', /skips an attempt|starts/, (journal) => doubled(journal, 'attempt')],
  ['an effect is emitted twice', /emitted twice/, (journal) => doubled(journal, 'effect')],
  [
    'a right is gone before its effect starts',
    /was allowed|is not permitted|not permitted after/,
    (journal) =>
      withCommand(journal, 'sys/SetRights@1', { holder: 'cell:lab/Cell@1/r', exercise: { may: { tool: [] } } }),
  ],
  [
    'an account has less left than was reserved',
    /more than was left/,
    (journal) => withCommand(journal, 'sys/SetAccount@1', { account: 'all', parent: null, limits: { tokens: 1 } }),
  ],
  [
    'a hold is gone before its effect starts',
    /was allowed|is not permitted|not permitted after/,
    (journal) => withCommand(journal, 'sys/SetRights@1', { holder: 'cell:lab/Cell@1/r', hold: { may: { tool: [] } } }),
  ],
  [
    'a cell below holds one above it',
    /set a hold of/,
    (journal) =>
      withCommand(journal, 'sys/SetRights@1', { holder: 'cell:lab/Cell@1/r', hold: { may: {} } }, 'cell:lab/Cell@1/a'),
  ],
  [
    'a cell lifts the hold of one above it',
    /lifted a hold of/,
    (journal) =>
      withCommand(
        journal,
        'sys/SetRights@1',
        { holder: 'cell:lab/Cell@1/c', hold: null, granter: 'operator' },
        'cell:lab/Cell@1/a',
      ),
  ],
  ['an effect starts when another cell stands where its own did', /starts and is not permitted/, madeAnewBeforeStart],
  [
    'what waits for approval starts',
    /starts while it is asked/,
    (journal) =>
      journal.map(
        (frame) =>
          frame.map((record) =>
            isRecord(record, 'effect') ? { ...record, approval: 'human:*', reserved: undefined } : record,
          ) as never,
      ),
  ],
];

describe('given the auditor', () => {
  it.each(FORGERIES)('the auditor reports when %s [GATE-9]', async (_, complaint, forge) => {
    const emit = {
      step: 'emit',
      by: 'r',
      kind: 'free',
      tool: 'saw',
      tokens: 5,
      timeoutMs: null,
      leave: false,
    } as const;
    const { journal } = await runAndAudit([
      { ...emit, guarantee: 'idempotent' },
      { step: 'cancel', which: 0, graceMs: 0 },
      { step: 'advance', ms: 1 },
    ]);
    expect(() => audit(journal)).not.toThrow();
    expect(() => audit(forge(journal))).toThrow(complaint);
  });
});

function audit(journal: Journal): void {
  const auditor = new Auditor();
  for (const frame of journal) auditor.read(frame);
}

function isRecord(record: JournalRecord, kind: JournalRecord['kind']): boolean {
  return record.kind === kind;
}

function doubled(journal: Journal, kind: JournalRecord['kind']): Journal {
  return journal.map((frame) => frame.flatMap((record) => (isRecord(record, kind) ? [record, record] : [record])));
}

/** The journal with the cell ended and made anew between the frame of an effect and its start. */
function madeAnewBeforeStart(journal: Journal): Journal {
  const asked = (...steps: string[][]) =>
    [
      { kind: 'request', seq: 0, at: 0, to: ['lab/Cell@1', 'r'], event: { name: 'lab/Do@1', value: { steps } } },
    ] as never;
  return journal.flatMap((frame) => {
    const starts = frame.filter((record) => isRecord(record, 'attempt'));
    if (starts.length === 0) return [frame];
    const before = frame.filter((record) => !isRecord(record, 'attempt'));
    return [before, asked(['end']), asked(), starts];
  });
}

/** The journal with a command more, just before the first effect. */
function withCommand(journal: Journal, name: string, value: object, principal = 'operator'): Journal {
  const first = journal.findIndex((frame) => frame.some((record) => isRecord(record, 'effect')));
  const ingress = { kind: 'command', seq: 0, at: 0, principal, id: 'forged', command: { name, value } };
  return [...journal.slice(0, first), [ingress as unknown as JournalRecord], ...journal.slice(first)];
}
