/** Where a call of a tool comes from: the entity hears a session only when it speaks for itself. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { Address } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import { describe, expect, it } from 'vitest';
import { ownerOrigin } from '../src/pure/reducer/calls.js';

const CALL = { call_id: 'c', step_epoch: 1, name: 'memory_share', args: {} };

/** What an entity answers to a call that names a session, from a sender. */
function heard(sender: Address | null, session: string): unknown {
  const reject = (code: string): never => {
    throw new Error(code);
  };
  return ownerOrigin({ ...CALL, session }, { sender, reject } as unknown as ReducerContext);
}

describe('the origin of a call', () => {
  it('a session that names another session than itself is refused, whichever it names [OWN-7]', () => {
    expect(() => heard([SESSION_REDUCER, 'a/1'], 'a/2')).toThrow('not_yours');
    expect(() => heard([SESSION_REDUCER, 'a/1'], 'a/1~2')).toThrow('not_yours');
    expect(() => heard(null, 'a/1')).toThrow('not_yours');
  });

  it('a session speaks for itself, and a job for the session that it has [OWN-7]', () => {
    const senders: readonly Address[] = [
      [SESSION_REDUCER, 'a/1'],
      ['work/Job@1', 'j'],
    ];
    for (const sender of senders)
      expect(heard(sender, 'a/1')).toEqual({ kind: 'owner', to: sender, session: 'a/1', call_id: 'c', step_epoch: 1 });
  });
});
