/** When a dry fork is at rest, and what it does when it cannot read what the original got. */
import { RepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import type { EffectLeaf } from '../../../src/pure/engine/index.js';
import type { RecordedReceipts } from '../../../src/replay/fork/recorded-receipts.js';
import { DryAnswers } from '../../../src/run/dispatch/dry-answers.js';
import { isPending } from '../../support/judge.js';
import { app } from './given-fork.js';

function leaf(fields: Partial<EffectLeaf> = {}): EffectLeaf {
  return { name: 'lab.once@1', queued: [1, 0], origins: ['original'], ...fields } as EffectLeaf;
}

function given(parts: Partial<ConstructorParameters<typeof DryAnswers>[0]> = {}) {
  const settled: string[] = [];
  const failures: unknown[] = [];
  const answers = new DryAnswers({
    app,
    recorded: { find: async () => undefined } as unknown as RecordedReceipts,
    settle: async (effect) => void settled.push(effect),
    failed: (error) => void failures.push(error),
    ...parts,
  });
  return { answers, settled, failures };
}

describe('given the answers of a dry fork', () => {
  it('the answers of a fork are unfinished while one is pending, and idle only until they are enabled', async () => {
    let release = (): void => undefined;
    const durable = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { answers } = given({ settle: () => durable });
    expect([answers.idle, answers.unfinished, answers.runningCount]).toEqual([true, false, 0]);
    answers.adopt('effect', leaf());
    expect([answers.idle, answers.unfinished, answers.runningCount]).toEqual([true, true, 0]);
    answers.enable();
    expect([answers.idle, answers.unfinished, answers.runningCount]).toEqual([false, true, 1]);
    release();
    await answers.ended();
    expect([answers.idle, answers.unfinished, answers.runningCount]).toEqual([true, false, 0]);
  });

  it('no answer is given for an effect that a cell settles, or that is settled and waits for its adapter alone', async () => {
    const { answers, settled } = given();
    answers.enable();
    answers.adopt('settled by a cell', leaf({ settler: ['lab/Cell@1', 'x'] } as never));
    answers.adopt('late', leaf({ late: 'ok' } as never));
    answers.adopt('open', leaf());
    await answers.ended();
    expect(settled).toEqual(['open']);
  });

  it('the fork is informed once when the receipts of the original cannot be read, and gets no more answers', async () => {
    const gone = new RepriseError('blob_missing', 'the receipts are gone');
    let looked = 0;
    const find = async () => {
      looked++;
      throw gone;
    };
    const { answers, settled, failures } = given({ recorded: { find } as unknown as RecordedReceipts });
    answers.enable();
    answers.adopt('first', leaf());
    await answers.ended();
    answers.enable();
    answers.adopt('second', leaf());
    await answers.ended();
    expect([settled, failures, looked]).toEqual([[], [gone], 1]);
  });

  it('closing the answers waits for the one in progress and begins no other', async () => {
    let release = (): void => undefined;
    const durable = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked: string[] = [];
    const { answers } = given({
      settle: (effect) => {
        asked.push(effect);
        return durable;
      },
    });
    answers.enable();
    for (const effect of ['first', 'second']) answers.adopt(effect, leaf());
    await expect.poll(() => asked.length).toBe(1);
    const closing = answers.close();
    expect(await isPending(closing)).toBe(true);
    release();
    await closing;
    expect(asked).toEqual(['first']);
  });
});
