/** Inputs for the sessions of an entity: which run answers them. */
import { SESSION_REDUCER } from '@reprise/agent';
import { type Address, RepriseError } from '@reprise/contracts';
import type { Ack, World } from '@reprise/kernel';
import { entityAt } from '../pure/index.js';

/** An input that was sent to a session of an entity, in the frame of `ack`. */
interface InputSent {
  readonly entity: string;
  readonly ack: Pick<Ack, 'seq'>;
  readonly input: string;
  /** The key of the session. */
  readonly session: string;
}

/**
 * The number of the run that an input began.
 *
 * @throws RepriseError `request_rejected` when the entity or its session refused the input; `cell_failed` when one of
 *   them has failed
 */
export async function runOf(kernel: World, { entity, ack, input, session }: InputSent): Promise<number> {
  const awaited: readonly Address[] = [entityAt(entity), [SESSION_REDUCER, session]];
  for await (const { records } of kernel.frames(ack.seq, undefined, awaited)) {
    for (const record of records) {
      if (record.kind !== 'fact' || record.from === null) continue;
      const isOurs = record.from[1] === entity && record.name === 'society/InputRefused@1';
      const isSession = record.from[0] === SESSION_REDUCER && record.from[1] === session;
      if (!isOurs && !isSession) continue;
      const { command_id, run, code } = record.value as {
        readonly command_id?: string;
        readonly run?: number;
        readonly code?: string;
      };
      if (command_id !== input) continue;
      if (record.name === 'aos.agent/InputAccepted@1' && run !== undefined) return run;
      if (isOurs || record.name === 'aos.agent/HostCommandRejected@1') throw refusedInput(entity, code);
    }
  }
  throw kernel.closedBy ?? lost(entity, 'an open world');
}

function refusedInput(entity: string, code: string | undefined): RepriseError {
  return new RepriseError('request_rejected', `the session of ${entity} refused this input`, {
    where: 'send',
    reason: code,
    actual: code,
    hint: 'docs/reference/session-commands.md says when each refusal comes.',
  });
}

/** What a call needs is not there. */
export function lost(entity: string, what: string): RepriseError {
  return new RepriseError('invalid_argument', `${entity} lacks what this call needs`, {
    where: entity,
    expected: what,
  });
}
