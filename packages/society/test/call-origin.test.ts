/** Where a call of a tool comes from: the entity hears a session only when it speaks for itself. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { Address } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import type { Row } from '../src/pure/contracts/index.js';
import { ownerOrigin } from '../src/pure/reducer/rights/session.js';

const CALL = { call_id: 'c', step_epoch: 1, name: 'memory_share', args: {} };

const SESSION: Row<'sessions'> = { agent: 'bot', def: '0'.repeat(64), open: true, running: false };

/** What the entity `a` answers to a call that names a session, from a sender with this row. */
function heard(
  caller: Address | null,
  [rowKey, row]: readonly [string | null, Row<'sessions'> | null],
  session: string,
) {
  const reject = (code: string): never => {
    throw new Error(code);
  };
  return ownerOrigin({ ...CALL, session }, row, { address: ['society/Entity@1', 'a'], caller, rowKey, reject });
}

describe('the origin of a call', () => {
  it('a session that names another session than itself is refused, whichever it names [OWN-7]', () => {
    expect(() => heard([SESSION_REDUCER, 'a/1'], ['1', SESSION], 'a/2')).toThrow('not_yours');
    expect(() => heard([SESSION_REDUCER, 'a/1'], ['1', SESSION], 'a/1~2')).toThrow('not_yours');
    expect(() => heard(null, [null, null], 'a/1')).toThrow('not_yours');
  });

  it('a session speaks for itself, and a job for the session that it has [OWN-7]', () => {
    const heardFrom = (to: Address, row: readonly [string, Row<'sessions'> | null]) =>
      expect(heard(to, row, 'a/1')).toEqual({ kind: 'owner', to, session: 'a/1', call_id: 'c', step_epoch: 1 });
    heardFrom([SESSION_REDUCER, 'a/1'], ['1', SESSION]);
    heardFrom(['work/Job@1', 'a/j1'], ['0000001', null]);
  });
});
