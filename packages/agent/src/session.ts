import { type Address, type Principal, RepriseError } from '@reprise/contracts';
import type { Ack, World } from '@reprise/kernel';
import { type Agent, storeAgent } from './agent.js';
import { SESSION_REDUCER, type SessionState } from './contracts/session.js';
import { projectFrame } from './events.js';
import { Run } from './run.js';
import { putText } from './transcript.js';

/** How an input is sent. */
export interface SendOptions {
  /** The message's idempotency key: sending it again changes nothing and gives the same run. */
  readonly id?: string;
  /** Who says it; `host` when absent. */
  readonly as?: Principal;
}

/** A session: one agent's conversation, under a key. It exists from its first input on. */
export class Session {
  /** The session's cell. */
  readonly address: Address;

  constructor(
    private readonly world: World,
    key: string,
    private readonly agent: Agent,
  ) {
    this.address = [SESSION_REDUCER, key];
  }

  /** The session's durable state; undefined before its first input. */
  async state(): Promise<SessionState | undefined> {
    return (await this.world.state(this.address)) as unknown as SessionState | undefined;
  }

  /**
   * Sends an input. It starts a run, or waits for the current one to end.
   *
   * @param text what to say
   * @returns the run, when its input is durable
   * @throws RepriseError `request_rejected` (`queue_full`), `request_conflict`, and what `World.request` throws
   */
  async send(text: string, options: SendOptions = {}): Promise<Run> {
    if (typeof text !== 'string')
      throw new RepriseError('invalid_argument', 'an input is text', { actual: typeof text });
    await this.#adopt();
    const text_ref = await putText(this.world.content, text);
    const ack = await this.world.request(this.address, { name: 'aos.agent/UserInput@1', value: { text_ref } }, options);
    return new Run(this.world, this.address, await this.#runOf(ack), ack);
  }

  /** The run that an earlier input started, by its number; undefined when there was none. */
  async run(number: number): Promise<Run | undefined> {
    for await (const frame of this.world.frames(0)) {
      for (const event of projectFrame(frame, this.address)) {
        if (event.type === 'input.accepted' && event.run === number)
          return new Run(this.world, this.address, number, frame);
      }
      if (frame.seq >= this.world.head.seq) return undefined;
    }
    return undefined;
  }

  /** A new session takes the agent's definition; an old one takes a changed one, for its next run. */
  async #adopt(): Promise<void> {
    const adoption = await storeAgent(this.world.content, this.agent);
    const known = await this.state();
    if (known?.def_ref.hex === adoption.def_ref.hex) return;
    await this.world.request(this.address, { name: 'aos.agent/AgentAdopted@1', value: adoption });
  }

  async #runOf(ack: Ack): Promise<number> {
    for await (const frame of this.world.frames(ack.seq)) {
      const accepted = projectFrame(frame, this.address).find((event) => event.type === 'input.accepted');
      if (accepted?.type === 'input.accepted') return accepted.run;
      break;
    }
    throw new RepriseError('internal_error', 'an accepted input has no run', { where: `frame ${ack.seq}` });
  }
}
