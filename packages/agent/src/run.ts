import { type Address, RepriseError } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import type { StopReason } from './contracts/session.js';
import { type AgentEvent, projectFrame } from './events.js';
import { readLlmOutput } from './transcript.js';

/** How a run ended. */
export interface RunOutcome {
  readonly stop: StopReason;
  /** The model's last answer; empty when it gave none. */
  readonly text: string;
  readonly usage: { readonly steps: number; readonly tokens_in: number; readonly tokens_out: number };
}

/** One run of a session: what follows from one input. It lives in the journal; this object only watches. */
export class Run {
  constructor(
    private readonly world: World,
    private readonly session: Address,
    /** The run's number in its session. */
    readonly number: number,
    /** The frame that accepted its input, durable. */
    readonly acceptedAt: { readonly seq: number; readonly head: string },
  ) {}

  /** What happens in the session from this run's input to its end, in journal order. */
  async *events(): AsyncGenerator<AgentEvent> {
    for await (const frame of this.world.frames(this.acceptedAt.seq)) {
      for (const event of projectFrame(frame, this.session)) {
        yield event;
        if (isEnd(event, this.number)) return;
      }
    }
    throw closedEarly(this.number, this.world.closedBy);
  }

  /**
   * Waits for the end of the run.
   *
   * @throws RepriseError `world_closed` when the world closes first, or what brought it down, such as `store_failed`;
   *   the run goes on when it is opened again
   */
  async result(): Promise<RunOutcome> {
    for await (const event of this.events()) {
      if (event.type !== 'lifecycle' || !isEnd(event, this.number) || event.stop === undefined) continue;
      const output =
        event.output_ref === undefined ? undefined : await readLlmOutput(this.world.content, event.output_ref);
      const usage = event.usage ?? { steps: 0, tokens_in: 0, tokens_out: 0 };
      return { stop: event.stop, text: output?.text ?? '', usage };
    }
    throw closedEarly(this.number, this.world.closedBy);
  }

  /**
   * Waits for the run's last answer.
   *
   * @throws RepriseError `run_failed` when the run did not complete
   */
  async text(): Promise<string> {
    const { stop, text } = await this.result();
    if (stop.kind === 'Completed') return text;
    throw new RepriseError('run_failed', `run ${this.number} ended as ${stop.kind}`, {
      actual: stop.kind === 'Failed' ? stop.code : stop.limit,
      stop,
      hint: 'Read run.result() for the reason as data, or the world with `reprise tail`.',
    });
  }
}

function isEnd(event: AgentEvent, run: number): boolean {
  return event.type === 'lifecycle' && event.run === run && event.stop !== undefined;
}

/** What ended the watching: the reason itself when the world did not close in peace. */
function closedEarly(run: number, reason: RepriseError | undefined): RepriseError {
  if (reason !== undefined && reason.code !== 'world_closed') return reason;
  return new RepriseError('world_closed', `the world was closed before run ${run} ended`, {
    hint: 'Open the world again: the run goes on where it stands.',
  });
}
