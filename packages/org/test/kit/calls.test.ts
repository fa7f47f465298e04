/** Calls that an owner answers: at once, later, or by a refusal. */
import type { Address } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { answerCall, answering, parkCall, Refused, waitingCallOf } from '../../src/pure/kit/index.js';

const JOB: Address = ['work/Job@1', 'desk/j1'];
const call = { session: 's', call_id: 'c', step_epoch: 3, name: 'find', args: {} };
const HINTS = { too_late: 'Begin again.' };

/** What a cell sends while it takes an event of this cell. */
function sending(caller: Address | null = JOB) {
  const sent: { readonly to: Address; readonly event: { readonly name: string; readonly value: unknown } }[] = [];
  const reject = (code: string): never => {
    throw new Error(code);
  };
  return {
    sent,
    ctx: {
      caller,
      reject,
      send: (to: Address, event: (typeof sent)[number]['event']) => void sent.push({ to, event }),
    },
  };
}

const answer = (value: unknown, is_error = false) => ({
  to: JOB,
  event: {
    name: 'aos.agent/OwnerAnswer@1',
    value: { session: 's', call_id: 'c', step_epoch: 3, value, refs: [], is_error },
  },
});

describe('calls of the sessions of an organization', () => {
  it('what is returned answers the call at the cell that passed it on, and undefined leaves the answer for later', () => {
    const now = sending();
    answering(now.ctx, call, HINTS, () => ({ value: 7 }));
    expect(now.sent).toEqual([answer(7)]);
    const later = sending();
    answering(later.ctx, call, HINTS, () => undefined);
    expect(later.sent).toEqual([]);
  });

  it('a refusal answers with its code, its details and the hint for the model; any other error is a fault', () => {
    const { sent, ctx } = sending();
    answering(ctx, call, HINTS, () => {
      throw new Refused('too_late', { since: 5 });
    });
    expect(sent).toEqual([answer({ code: 'too_late', since: 5, hint: 'Begin again.' }, true)]);
    const fault = () => {
      throw new TypeError('a defect');
    };
    expect(() => answering(ctx, call, HINTS, fault)).toThrow('a defect');
  });

  it('a call that was remembered is answered where it came from, also in the delivery of another sender', () => {
    const waiting = waitingCallOf(call, sending().ctx);
    const { sent, ctx } = sending(['desk/Other@1', 'x']);
    answering(ctx, waiting, HINTS, () => ({ value: 1 }));
    expect(sent).toEqual([answer(1)]);
  });

  it('a call that is parked is told so once, and what is kept of it is enough to answer it later', () => {
    const { sent, ctx } = sending();
    const kept = parkCall(ctx, call);
    const place = { session: 's', call_id: 'c', step_epoch: 3 };
    expect(sent).toEqual([{ to: JOB, event: { name: 'aos.agent/OwnerParked@1', value: place } }]);
    expect(kept).toEqual({ to: JOB, ...place });
    const later = sending(null);
    answerCall(later.ctx, kept, { value: 'yes' });
    expect(later.sent).toEqual([answer('yes')]);
    expect(() => parkCall(later.ctx, call)).toThrow('not_yours'); // from outside comes no call
  });
});
