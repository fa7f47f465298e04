/** Sends the requests and commands of a session, and tells how the session answered. */
import { type Address, isRepriseError, present, RepriseError } from '@reprise/contracts';
import type { Ack, World } from '@reprise/kernel';
import type { SessionCommand } from '../contracts/commands.js';
import { sessionRequestId } from './request-id.js';
import type { SessionFacts } from './session-facts.js';
import type { CommandOptions, CommandReceipt, SayOptions } from './session-options.js';

/** The sender of a request: its id, the principal that sends it, and who acts. */
interface Sender extends Pick<SayOptions, 'as' | 'actor' | 'traceparent'> {
  readonly id: string;
}

/** Sends what an app asks of one session. */
export class SessionRequests {
  constructor(
    private readonly world: World,
    private readonly session: { readonly key: string; readonly address: Address; readonly facts: SessionFacts },
    private readonly newId: () => string,
  ) {}

  /** Sends an event to the session's cell. */
  event(name: string, value: unknown, { id, as, actor, traceparent }: Sender): Promise<Ack> {
    const { key, address } = this.session;
    const sent = present({ id: sessionRequestId(key, id), as, actor, traceparent });
    return this.world.request(address, { name, value }, sent);
  }

  async command(command: SessionCommand, options: SayOptions): Promise<CommandReceipt> {
    const { id: command_id = this.newId(), ifEpoch, as, actor, traceparent } = options;
    const value = { command_id, command, ...(ifEpoch === undefined ? {} : { expected_epoch: ifEpoch }) };
    try {
      const ack = await this.event(
        'aos.agent/HostCommand@1',
        value,
        present({ id: command_id, as, actor, traceparent }),
      );
      return await this.#receiptOf(ack, command_id);
    } catch (error) {
      if (!isRepriseError(error, 'cell_absent')) throw error;
      return { command_id, status: 'rejected', code: 'session_absent' };
    }
  }

  /** Closes the session; a failed one is revived for it, with its state before the fault. */
  async close(options: CommandOptions): Promise<CommandReceipt> {
    const { as, actor, id: command_id = this.newId() } = options;
    try {
      return await this.command({ type: 'Close' }, { ...options, id: command_id });
    } catch (error) {
      // A command with this id may have closed the session while it had failed.
      if (!isRepriseError(error, 'cell_failed') && !isRepriseError(error, 'request_conflict')) throw error;
    }
    const { key, address } = this.session;
    const value = { command_id, command: { type: 'Close', at_once: true } };
    const next = { name: 'aos.agent/HostCommand@1', value };
    const ack = await this.world.revive(address, present({ next, id: sessionRequestId(key, command_id), as, actor }));
    return this.#receiptOf(ack, command_id);
  }

  /** The error for an input that the session refused. */
  async refusal(ack: Ack, command_id: string): Promise<RepriseError> {
    const { key, facts } = this.session;
    const rejected = await facts.ofCommand(ack, 'aos.agent/HostCommandRejected@1', command_id);
    return new RepriseError('request_rejected', `session ${key} refused this input`, {
      where: `frame ${ack.seq}`,
      actual: rejected?.code,
      reason: rejected?.code,
      hint: 'docs/reference/session-commands.md says when each refusal comes.',
    });
  }

  async #receiptOf(ack: Ack, command_id: string): Promise<CommandReceipt> {
    const { facts } = this.session;
    const rejected = await facts.ofCommand(ack, 'aos.agent/HostCommandRejected@1', command_id);
    if (rejected !== undefined) return { command_id, status: 'rejected', code: rejected.code };
    const accepted = await facts.ofCommand(ack, 'aos.agent/HostCommandAccepted@1', command_id);
    const { run, still_queued } = accepted ?? {};
    return {
      command_id,
      status: 'accepted',
      ...(run === undefined ? {} : { run }),
      ...(still_queued === undefined ? {} : { still_queued }),
    };
  }
}
