/** Inputs that an organization passes on to a session of its own: which run answers them. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, formatAddress, RepriseError } from '@reprise/contracts';
import type { Ack } from '@reprise/kernel';
import { type OrgCell, outcomeOf } from './command.js';
import type { FactRecord } from './reader.js';

interface InputSent {
  readonly id: string;
  /** The key of the session that it is for. */
  readonly session: string;
  /** Whose session that is, for errors: such as `the coordinator of project auth`. */
  readonly whose: string;
  /** The fact by which the cell states that it has refused an input. */
  readonly refused: string;
  /** Takes other facts of the cell while it is awaited, and may throw. */
  readonly hear?: (fact: FactRecord) => void | Promise<void>;
}

/**
 * The number of the run that an input began.
 *
 * @throws RepriseError `request_rejected` when the cell or the session has refused the input; `policy_denied` or `cap_denied`
 *   when the gate has; `cell_failed` when one of them has failed; what closed the world
 */
export function runOfInput(cell: Cell, ack: Ack, { id, session, whose, refused, hear }: InputSent): Promise<number> {
  const at: Address = [SESSION_REDUCER, session];
  const find = async (fact: FactRecord): Promise<number | undefined> => {
    const { command_id, run, code } = fact.value as Said;
    if (command_id !== id) {
      await hear?.(fact);
      return undefined;
    }
    if (fact.name === 'aos.agent/InputAccepted@1') return run;
    if (fact.name === refused || fact.name === 'aos.agent/HostCommandRejected@1') throw refusedInput(at, whose, code);
    return undefined;
  };
  return outcomeOf(cell, ack, { in: find, cells: [at] });
}

type Cell = Pick<OrgCell, 'world' | 'address' | 'ids'>;

/** What the facts about inputs say. */
interface Said {
  readonly command_id?: string;
  readonly run?: number;
  readonly code?: string;
}

function refusedInput(session: Address, whose: string, code: string | undefined): RepriseError {
  const [, denied] = /^(policy_denied|cap_denied)(?:\/|$)/.exec(code ?? '') ?? [];
  if (denied !== undefined)
    return new RepriseError(
      denied as 'policy_denied' | 'cap_denied',
      `an input for the session of ${whose} was denied`,
      {
        where: formatAddress(session),
        actual: code,
        hint: 'Change the policy of the world, or the rights of the cell that passes the input on, then send the message with another id.',
      },
    );
  if (code === 'cell_failed')
    return new RepriseError('cell_failed', `the session of ${whose} has failed`, {
      where: formatAddress(session),
      hint: 'Fix the cause, revive the session if it is there (`world.trouble()` lists failed cells), then send the message with another id.',
    });
  return new RepriseError('request_rejected', `the session of ${whose} refused this input`, {
    where: 'send',
    reason: code,
    actual: code,
    hint: 'docs/reference/session-commands.md says when each refusal comes.',
  });
}
