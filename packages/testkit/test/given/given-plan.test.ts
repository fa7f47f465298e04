import { givenPlan, type PlanOutcome } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { curiousPlan, order, patientPlan, payPlan } from './shop.js';

const ok = { status: 'ok', payload: { id: 'r-1' } } as const;
const charged = { kind: 'shop.charge@1', params: { cents: 5 } };
const paid = (value: boolean) => ({ name: 'shop/Paid@1', value: { ok: value } });

const started = () => givenPlan(payPlan, { owner: order }).input({ cents: 5 });

describe('given a plan', () => {
  it('a plan under test waits with its effects open', () => {
    started().then({ effects: [charged], events: [], ended: null, denied: [], aborted: [] });
  });

  it('a receipt resumes it to its end', () => {
    started()
      .when(ok)
      .then({ effects: [charged], events: [paid(true)], ended: 'ok' });
  });

  it('receipts arrive in the order in which the test lists them', () => {
    started()
      .when({ status: 'timeout' }, { status: 'error', code: 'adapter_error' })
      .then({ effects: [charged, charged], events: [paid(false)], ended: 'ok' });
  });

  it('a refused effect is data [PLAN-3]', () => {
    const policy = [{ effect: '*', decision: 'deny' as const }];
    givenPlan(payPlan, { policy })
      .input({ cents: 5 })
      .then({ effects: [], denied: ['shop.charge@1'], events: [paid(false)], ended: 'ok' });
  });

  it('a deadline of a plan ends with the time, and a running effect is aborted', () => {
    const given = givenPlan(patientPlan).input({});
    given.when({ afterMs: 59_999 }).then({ ended: null, aborted: [] });
    given.when({ afterMs: 60_000 }).then({ ended: 'ok', events: [paid(false)], aborted: [0] });
    given.when({ afterMs: 59_999 }, ok).then({ ended: 'ok', events: [paid(true)], aborted: [] });
  });

  it('a late receipt changes nothing', () => {
    givenPlan(patientPlan)
      .input({})
      .when({ afterMs: 60_000 }, ok)
      .then({ events: [paid(false)], ended: 'ok' });
  });

  it('a plan under test can peek at the cells of the test', () => {
    const cells = [{ address: ['shop/Order@1', 'a'] as [string, string], state: { cents: 1 } }];
    givenPlan(curiousPlan, { cells })
      .input({ key: 'a' })
      .then({ events: [paid(true)] });
    givenPlan(curiousPlan, { cells })
      .input({ key: 'b' })
      .then({ events: [paid(false)] });
  });
});

describe('given a test that expects something else, it fails', () => {
  it.each<[string, PlanOutcome, RegExp]>([
    ['another effect', { effects: [{ ...charged, params: { cents: 6 } }] }, /effects\n {2}expected .*6.*\n {2}got .*5/],
    ['an event', { events: [] }, /events/],
    ['an end', { ended: null }, /ended/],
    ['a denial', { denied: ['shop.charge@1'] }, /denied/],
    ['an abort', { aborted: [0] }, /aborted/],
    ['a fault', { fault: 'threw' }, /fault/],
  ])('%s', (_, wrong, message) => {
    expect(() => started().when(ok).then(wrong)).toThrow(message);
  });

  it('a fault that is not foreseen fails', () => {
    const given = givenPlan(payPlan, { owner: { ...order, events: new Map() } }).input({ cents: 5 });
    expect(() => given.when(ok).then({})).toThrow(/event_unknown/);
    given.when(ok).then({ fault: 'event_unknown', ended: 'error' });
  });

  it('a step that no world would take is refused', () => {
    expect(() => started().when({ status: 'ok', payload: { id: 1 } })).toThrow(/\$\.id/);
    expect(() => started().when(ok, ok)).toThrow(/no open effect/);
    expect(() => started().when({ ...ok, of: 'shop.other@1' })).toThrow(/no open effect shop\.other@1/);
    expect(() => givenPlan(payPlan).input({ cents: 'x' }).then({})).toThrow(/\$\.cents/);
  });
});
