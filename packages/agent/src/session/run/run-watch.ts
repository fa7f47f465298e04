/** Selects the frames and live pieces that belong to one run. */
import { aFlag, type KnownOptions, type RepriseError } from '@reprise/contracts';
import type { World, WorldFrame } from '@reprise/kernel';
import type { AgentEvent, AgentEventOf, Cursor, Delta } from '../../contracts/agent-event.js';
import { AgentEvents, type EffectPlace } from '../../timeline/agent-events.js';
import type { Past } from '../../timeline/event-scope.js';
import { cursorOf, isBehind, type PastBefore, shownEvent, WATCH_OPTIONS, type WatchOptions } from './events.js';
import type { Spoken } from './live.js';
import { RunLoss } from './run-lost.js';

/** The options for watching a run. */
export interface RunWatchOptions extends WatchOptions {
  /** Includes the runs of its children. */
  readonly tree?: boolean;
}

/** The names of the options for watching a run or a session. */
export const RUN_WATCH_OPTIONS: KnownOptions<RunWatchOptions> = { ...WATCH_OPTIONS, tree: aFlag };

/** What is watched: a run, or an input and the run that answers it. */
interface Watched {
  readonly session: string;
  /** The run, as events name it. */
  readonly run: string;
  /** The command id of the followed input; null for a run that is watched by its number. */
  readonly input?: string;
}

/** How a run ended; a run whose input was dropped has only the reason. */
export type RunEnd = Pick<AgentEventOf<'lifecycle'>, 'stop' | 'ref' | 'value_ref' | 'usage'>;

/**
 * One watch of one run, frame by frame from the one that accepted its input. When the run ends before the input becomes
 * its turn, the watch follows the input to its next run.
 */
export class RunWatch {
  /** How the run ended, once all events up to its end were yielded. */
  end: RunEnd | undefined;
  /** The run that is watched now. */
  run: string;
  /** Whether the model was shown the followed input; true without one. */
  #said: boolean;
  /** The input that was to begin the run, and whether the run began. */
  #first: string | undefined;
  #began = false;
  /** The run at the root of the tree. */
  #root: string | null = null;
  /** The last frame that was read, and the last event in it. */
  #seq = -1;
  #last: Cursor = '0.0';
  /** Whether the run can go on. */
  readonly #loss: RunLoss;
  #unplaced: (Spoken & { readonly heardAt: number })[] = [];

  private constructor(
    private readonly world: Pick<World, 'content' | 'head'>,
    private readonly of: Watched,
    private readonly options: RunWatchOptions,
    private readonly projection: AgentEvents,
  ) {
    this.run = of.run;
    this.#said = of.input === undefined;
    this.#loss = new RunLoss(of.session, of.run);
  }

  /**
   * @param past what is known of the frames before the one that accepted the run's input
   * @param pastBefore reads what is known of earlier frames once the input moves to an older run
   */
  static async from(
    world: Pick<World, 'content' | 'head'>,
    of: Watched,
    options: RunWatchOptions,
    past: Past | undefined,
    pastBefore: PastBefore,
  ): Promise<RunWatch> {
    const scope = { sessions: [of.session], tree: options.tree === true, ownRuns: true };
    return new RunWatch(world, of, options, await AgentEvents.from(scope, past, pastBefore));
  }

  /** Whether the run is over. */
  get ended(): boolean {
    return this.end !== undefined;
  }

  /** Why the run will not go on by itself, by all durable frames; undefined while it may. */
  get lost(): RepriseError | undefined {
    return this.ended || this.#seq < this.world.head.seq ? undefined : this.#loss.error;
  }

  /** The events of the next frame, as they are shown. */
  async *shown(frame: WorldFrame): AsyncGenerator<AgentEvent> {
    await this.#enter(frame);
    for (const event of this.#wanted(frame)) {
      const shown = shownEvent(this.world.content, event, this.options);
      const ready = shown instanceof Promise ? await shown : shown;
      if (ready !== undefined) yield ready;
    }
  }

  /** The events of the next frame for a watch that shows none of them: all, with links and without texts, and at once. */
  passed(frame: WorldFrame): readonly AgentEvent[] | Promise<readonly AgentEvent[]> {
    const entered = this.#enter(frame);
    return entered === undefined ? [...this.#wanted(frame)] : entered.then(() => [...this.#wanted(frame)]);
  }

  #enter(frame: WorldFrame): Promise<void> | undefined {
    this.#loss.see(frame.records);
    return this.projection.recall(frame);
  }

  /** The events of a frame that the watch is about; it goes on behind each when the next one is asked for. */
  *#wanted(frame: WorldFrame): Generator<AgentEvent> {
    const behind = cursorOf(this.options.after);
    for (const event of this.projection.project(frame)) {
      this.#follow(event);
      if (!this.#isWanted(event) || this.#isOfAnother(event)) continue;
      this.#last = event.event_seq;
      if (isBehind(event.event_seq, behind)) yield event;
      this.end = this.#endIn(event);
      if (this.ended) return;
    }
    this.#seq = frame.seq;
  }

  /**
   * The received pieces that belong to a step of the run. A piece that arrives before its frame is read waits for it.
   */
  *spoken(heard: readonly Spoken[]): Generator<Delta> {
    const heardAt = this.world.head.seq;
    const all = [...this.#unplaced, ...heard.map((spoken) => ({ ...spoken, heardAt }))];
    this.#unplaced = [];
    for (const spoken of all) {
      const place = this.projection.placeOf(spoken.effect);
      if (place === undefined) {
        if (spoken.heardAt > this.#seq) this.#unplaced.push(spoken);
      } else if (place.step_id !== null && this.#isWanted(place)) {
        yield { ...spoken.note, step_id: place.step_id, after: this.#last };
      }
    }
  }

  /** Follows the input to another run. */
  #follow(event: AgentEvent): void {
    const { session, run, input } = this.of;
    if (event.session_id !== session) return;
    if (event.type === 'lifecycle' && event.run_id === run) this.#began = true;
    if (event.type === 'input.accepted' && event.run_id !== null && this.#isFollowed(event)) this.run = event.run_id;
    if (event.type === 'turn.started' && input !== undefined && event.command_id === input) this.#said = true;
  }

  /** Of a run that is watched by its number: the input that was to begin it, until the run begins. */
  #isFollowed({ run_id, command_id, moved_from }: AgentEventOf<'input.accepted'>): boolean {
    const { run, input } = this.of;
    if (input !== undefined) return command_id === input;
    if (run_id === run) this.#first ??= command_id;
    return moved_from !== undefined && !this.#began && command_id === this.#first;
  }

  /** The end of a run that ended before the followed input became a turn of it. */
  #isOfAnother(event: AgentEvent): boolean {
    return !this.#said && isEndOf(this.run, event) && event.from !== 'Queued';
  }

  #endIn(event: AgentEvent): RunEnd | undefined {
    if (isEndOf(this.run, event)) return event;
    const { session, input } = this.of;
    const dropped = event.type === 'input.dropped' && event.session_id === session && event.command_id === input;
    return dropped ? { stop: { kind: 'Cancelled', dropped: event.why } } : undefined;
  }

  /** Whether an event belongs to this run or precedes it in its session; with `tree`, to any run below it. */
  #isWanted(event: EffectPlace): boolean {
    const { session } = this.of;
    const { run } = this;
    if (event.run_id === run) this.#root = event.correlation_id;
    if (event.session_id === session) return event.run_id === run || (event.run_id === null && this.#root !== null);
    return this.options.tree === true && event.correlation_id !== null && event.correlation_id === this.#root;
  }
}

/** Whether an event is the end of a run. */
function isEndOf(run: string, event: AgentEvent): event is AgentEventOf<'lifecycle'> {
  return event.type === 'lifecycle' && event.run_id === run && event.stop !== undefined;
}
