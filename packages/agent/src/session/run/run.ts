/** One run of a session, as its sender sees it. */
import {
  aText,
  type ErrorDetail,
  errorDetail,
  failureWords,
  isRepriseError,
  limitWords,
  present,
  type Ref,
  RepriseError,
  requireKnownOptions,
} from '@reprise/contracts';
import type { AwaitedCell, World, WorldFrame } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import { readLlmOutput } from '../../content/transcript.js';
import type { AgentEvent, Delta } from '../../contracts/agent-event.js';
import type { Tally } from '../../contracts/config.js';
import type { StopReason } from '../../contracts/lifecycle.js';
import { SESSION_REDUCER } from '../../contracts/session.js';
import type { Artifact } from '../../contracts/tool-call.js';
import type { Past } from '../../timeline/event-scope.js';
import { runId } from '../../timeline/placed-event.js';
import type { CommandOptions } from '../session-options.js';
import { type CallSite, callSite } from './call-site.js';
import { framesOf, type PastBefore } from './events.js';
import { type LiveAnswers, PIECES } from './live.js';
import { sessionFailed } from './run-lost.js';
import { type RunStatus, stalledBy } from './run-status.js';
import { runWaiting, type Waiting, type WaitParts, waitOf, waitsForCell } from './run-wait.js';
import { RUN_WATCH_OPTIONS, type RunEnd, RunWatch, type RunWatchOptions } from './run-watch.js';
import { unfitReturn, unfitReturnIn } from './unfit-return.js';
import { WorkingFrames } from './working-frames.js';

/** How a run ended, and what it returned. */
export interface Outcome<R> {
  readonly stop: StopReason;
  /** The return value: by the agent's `returns`, or the last text; absent when the run did not complete. */
  readonly value?: R;
  /** The model's last answer; empty when it gave none. */
  readonly text: string;
  /** The files that its tools made. */
  readonly artifacts: readonly Artifact[];
  /** The run's own usage; the usage of its children counts toward its limits but is not included. */
  readonly usage: Tally;
  /** The toolsets that could not be reached: the run went on without their tools, or with calls that fail. */
  readonly unreachable?: readonly string[];
  /** Of a failed run: the text of the error behind it, without secrets, for operators. */
  readonly error?: ErrorDetail;
}

/** A run that has ended, or that waits for a person or a command. */
export type EndedOrWaiting<R> = ({ readonly status: 'ended' } & Outcome<R>) | Waiting;

/** The parts that a run needs to watch itself. */
interface RunParts<R> extends WaitParts {
  readonly world: World;
  readonly live: LiveAnswers;
  /** Whether the agent has `returns`; otherwise runs return text. */
  readonly returns: boolean;
  /** What is known of the frames before the run was accepted; undefined when its session has no children. */
  past(): Promise<Past | undefined>;
  /** What is known of the frames before one. */
  readonly pastBefore: PastBefore;
  /** Cancels the run, also when it still waits. */
  cancel(reason?: string): Promise<unknown>;
  /** Answers the input of this run once more, in a new run. */
  retry(options: CommandOptions): Promise<Run<R>>;
}

/** The place of a run. */
export interface RunPlace {
  readonly session: string;
  readonly number: number;
  /** The frame that accepted its input. */
  readonly seq: number;
  /**
   * The input that led to the run, and which may still move to another run; absent for a run that was found by its
   * number.
   */
  readonly input?: string;
}

const { follow: _, ...STREAM_OPTIONS } = RUN_WATCH_OPTIONS;
const NOTHING: Tally = { steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 };

/**
 * One run of a session: the consequences of one input. It lives in the journal; this object only watches. When the run
 * ends before it answers the input, this object follows the input to the run that does.
 *
 * @typeParam R the return type
 */
export class Run<R = unknown> {
  /** The id of the run, such as `<session>/r3`. */
  readonly id: string;
  /** The run's number in its session. */
  readonly number: number;
  /** The id of the input that is followed; undefined for a run that was found by its number. */
  readonly input: string | undefined;

  constructor(
    private readonly parts: RunParts<R>,
    private readonly place: RunPlace,
  ) {
    this.id = runId(place.session, place.number);
    this.number = place.number;
    this.input = place.input;
  }

  /**
   * The events of the run, in the order of the journal, to its end. With `after`, exactly the events behind that one.
   *
   * @throws RepriseError `world_closed` when the world closes first, or the error that closed it; the run goes on when
   * the world is opened again; `cell_failed` when its session has failed, `run_failed` when its session could not be
   * made; `run_waiting` when it waits and nothing is left to do in this process;
   * `waits_for_itself` in a tool whose call the run waits for
   */
  events(options: RunWatchOptions = {}): AsyncGenerator<AgentEvent> {
    requireKnownOptions(options, RUN_WATCH_OPTIONS, 'run.events');
    return this.#events(options, callSite(this.events));
  }

  async *#events(options: RunWatchOptions, from: CallSite): AsyncGenerator<AgentEvent> {
    const { world } = this.parts;
    const watched = await this.#watched(options);
    const isFollowing = options.follow !== false;
    const frames = framesOf(world, this.place.seq, options, this.#awaited);
    for await (const frame of isFollowing ? this.#each(frames, from) : frames) {
      yield* watched.shown(frame);
      if (watched.ended) return;
      if (watched.lost !== undefined && isFollowing) throw from.mark(watched.lost);
    }
    if (options.signal?.aborted !== true && isFollowing) throw closedEarly(this.id, world.closedBy, from);
  }

  /**
   * The events of {@link Run.events}, with live pieces of the model's answers between them. A piece counts until the
   * step's `llm_step.completed`, or until `delta.reset`: then the model is called again.
   *
   * @throws RepriseError as {@link Run.events}; and behind the last event `run_failed`, when the run failed or reached a
   * limit: a loop that only prints answers would end as if all were well
   */
  stream(options: Omit<RunWatchOptions, 'follow'> = {}): AsyncGenerator<AgentEvent | Delta> {
    requireKnownOptions(options, STREAM_OPTIONS, 'run.stream');
    return this.#stream(options, callSite(this.stream));
  }

  async *#stream(options: Omit<RunWatchOptions, 'follow'>, from: CallSite): AsyncGenerator<AgentEvent | Delta> {
    const { world, live } = this.parts;
    const watched = await this.#watched(options);
    const made = new Made();
    const left = new AbortController();
    const leave = (): void => left.abort();
    options.signal?.addEventListener('abort', leave, { once: true });
    if (options.signal?.aborted === true) leave();
    const listener = live.listen();
    const frames = this.#whileWorking(world.frames(this.place.seq, left.signal, this.#awaited), from);
    const read = () => {
      const next = frames.next();
      next.catch(() => undefined); // a world that closes while the caller does not read: the next read reports it
      return next;
    };
    try {
      for (let next = read(); !watched.ended; ) {
        const heard = await Promise.race([next, listener.heard()]);
        if (heard === undefined) break;
        if (heard !== PIECES) {
          next = read();
          made.seeFrame(heard);
          for await (const event of watched.shown(heard)) {
            made.see(event);
            yield event;
          }
          if (watched.lost !== undefined) throw from.mark(watched.lost);
        }
        if (!watched.ended) yield* watched.spoken(listener.take());
      }
    } finally {
      listener.close();
      options.signal?.removeEventListener('abort', leave);
      leave();
      frames.close();
    }
    if (watched.end !== undefined) return this.#requireDone(watched.end, made, from);
    if (options.signal?.aborted !== true) throw closedEarly(this.id, world.closedBy, from);
  }

  /** @throws RepriseError `run_failed` when the run did not complete */
  async #requireDone({ stop }: RunEnd, made: Made, from: CallSite): Promise<void> {
    if (stop?.kind === 'Failed' || stop?.kind === 'LimitsExceeded')
      throw from.mark(runFailed(this.id, stop, await this.#errorOf(stop, made)));
  }

  /** The text of the error behind the end of a run. */
  async #errorOf(stop: StopReason, made: Made): Promise<ErrorDetail | undefined> {
    return (await unfitReturn(this.parts.world, stop, made.unfit)) ?? this.#errorAt(made.failure);
  }

  /**
   * What the run does now: it runs; it waits for a person or a command; it is stalled, since the store, a service or its
   * session's cell does not let it go on; or it has ended. `pending()` is for people, `status()` for operators.
   *
   * @throws RepriseError `world_closed`, or the error that closed the world
   * @example
   * const now = await run.status()
   * if (now.status === 'stalled') console.error(now.code, now.trouble)
   */
  async status(): Promise<RunStatus<R>> {
    const from = callSite(this.status);
    const { session } = this.place;
    const stalled = await stalledBy(this.parts, session, 'store'); // what is asked below would wait for the store
    if (stalled !== undefined) return stalled;
    const ended = await this.#endSoFar();
    if (ended !== undefined) return { status: 'ended', ...ended };
    const other = await stalledBy(this.parts, session);
    if (this.parts.world.closedBy !== undefined) throw closedEarly(this.id, this.parts.world.closedBy, from);
    return other ?? (await waitOf(this.parts, session)) ?? { status: 'running' };
  }

  /** How the run ended, by the frames that are durable now; undefined while it has not. */
  async #endSoFar(): Promise<Outcome<R> | undefined> {
    const watched = await this.#watched({ inline: 0 });
    const made = new Made();
    for await (const frame of framesOf(this.parts.world, this.place.seq, { follow: false }, this.#awaited)) {
      made.seeFrame(frame);
      for (const event of await watched.passed(frame)) made.see(event);
      if (watched.end !== undefined) return this.#outcome(watched.end, made, watched.run);
    }
    return undefined;
  }

  /**
   * Waits for the end of the run, also while it waits for a person.
   *
   * @throws RepriseError `world_closed` when the world closes first, or the error that closed it, such as
   * `store_failed`; the run goes on when the world is opened again; `run_waiting` when it waits and nothing is left to do
   * in this process; `cell_failed` when its session has failed, and `session.close()` ends it; `run_failed` when its
   * session could not be made; `waits_for_itself` in a tool whose call the run waits for, which would wait for ever
   */
  result(): Promise<Outcome<R>> {
    return this.#result(callSite(this.result));
  }

  /**
   * Waits until the run has ended or waits for a person or a command: a decision, the next message, a higher limit or a resume. A run
   * whose children all wait waits for the same.
   *
   * @throws RepriseError as {@link Run.result}
   * @example
   * const now = await run.endedOrWaiting()
   * if (now.status === 'waiting') await world.decide(now.pending[0], { approve: true })
   * else console.log(now.text)
   */
  async endedOrWaiting(): Promise<EndedOrWaiting<R>> {
    const from = callSite(this.endedOrWaiting);
    const found = await this.#follow(from, () => waitOf(this.parts, this.place.session));
    return 'status' in found ? found : { status: 'ended', ...found };
  }

  /**
   * Waits for the run's last answer.
   *
   * @throws RepriseError `run_failed` when the run did not complete, and as {@link Run.result}
   */
  async text(): Promise<string> {
    const { stop, text, error } = await this.#result(callSite(this.text));
    if (stop.kind === 'Completed') return text;
    throw runFailed(this.id, stop, error);
  }

  /**
   * Answers the input of this run anew, when it failed, reached a limit or was cancelled, and is the session's last run. See
   * `Session.retry`.
   *
   * @example if ((await run.result()).stop.kind === 'Failed') run = await run.retry()
   */
  retry(options: CommandOptions = {}): Promise<Run<R>> {
    return this.parts.retry(options);
  }

  /**
   * Cancels the run and stops its running work. Returns when the cancel is accepted; {@link Run.result} returns the
   * end.
   */
  async cancel(options: { readonly reason?: string } = {}): Promise<void> {
    requireKnownOptions(options, { reason: aText }, 'run.cancel');
    await this.parts.cancel(options.reason);
  }

  async #result(from: CallSite): Promise<Outcome<R>> {
    return this.#follow<undefined>(from);
  }

  /** Reads frames to the end of the run, or to the first durable one at which it waits. */
  async #follow<W extends Waiting | undefined = undefined>(
    from: CallSite,
    waiting?: () => Promise<W>,
  ): Promise<Outcome<R> | Exclude<W, undefined>> {
    const { world } = this.parts;
    const watched = await this.#watched({ inline: 0 });
    const made = new Made();
    const frames = this.#whileWorking(framesOf(world, this.place.seq, {}, this.#awaited), from);
    try {
      for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) {
        made.seeFrame(frame);
        const passed = watched.passed(frame);
        for (const event of passed instanceof Promise ? await passed : passed) made.see(event);
        if (watched.lost !== undefined) throw from.mark(watched.lost);
        if (watched.end !== undefined) return await this.#outcome(watched.end, made, watched.run);
        const isAsked = waiting !== undefined && frame.seq >= world.head.seq;
        const now = isAsked ? await waiting() : undefined;
        if (now !== undefined) return now as Exclude<W, undefined>;
      }
    } finally {
      frames.close();
    }
    throw closedEarly(this.id, world.closedBy, from);
  }

  /** The cell without which the run does not go on, and the effects without whose ends it does not. */
  get #awaited(): readonly AwaitedCell[] {
    const { session } = this.place;
    return [{ cell: [SESSION_REDUCER, session], waitsFor: (cell) => waitsForCell(this.parts, session, cell) }];
  }

  /** The frames of a watch, until nothing is left to do in this process that could bring another one. */
  #whileWorking(frames: AsyncGenerator<WorldFrame>, from: CallSite): WorkingFrames {
    return new WorkingFrames(frames, {
      failed: (error) => {
        if (isRepriseError(error, 'cell_failed')) return from.mark(sessionFailed(error, this.id));
        if (isRepriseError(error, 'waits_for_itself')) return from.mark(error);
        return isRepriseError(error, 'world_closed') ? readLate(this.id, error, from) : error;
      },
      waiting: async () => from.mark(await runWaiting(this.parts, this.id, this.place.session)),
    });
  }

  async *#each(given: AsyncGenerator<WorldFrame>, from: CallSite): AsyncGenerator<WorldFrame> {
    const frames = this.#whileWorking(given, from);
    try {
      for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) yield frame;
    } finally {
      frames.close();
    }
  }

  async #outcome(end: RunEnd, made: Made, run: string): Promise<Outcome<R>> {
    const { content } = this.parts.world;
    const stop = end.stop ?? { kind: 'Cancelled' as const };
    const text = end.ref === undefined ? '' : ((await readLlmOutput(content, end.ref)).text ?? '');
    const usage = end.usage ?? NOTHING;
    const unreachable = made.unreachableOf(run);
    const rest = { text, artifacts: made.of(run), usage, ...(unreachable.length === 0 ? {} : { unreachable }) };
    if (stop.kind === 'Failed') {
      const error = await this.#errorOf(stop, made);
      return { stop, ...rest, ...(error === undefined ? {} : { error }) };
    }
    if (stop.kind !== 'Completed') return { stop, ...rest };
    const given = this.parts.returns ? await this.#returned(end) : text;
    return { stop, ...(given === undefined ? {} : { value: given as R }), ...rest };
  }

  async #errorAt(failure: Ref | undefined): Promise<ErrorDetail | undefined> {
    if (failure === undefined) return undefined;
    const value = await getValue(this.parts.world.content, failure).catch(() => undefined);
    return errorDetail.safeParse(value).data;
  }

  async #returned({ value_ref }: RunEnd): Promise<unknown> {
    return value_ref === undefined ? undefined : getValue(this.parts.world.content, value_ref);
  }

  /**
   * The run's own events need no earlier frames, unless its input moves to an older run. Its children may be sessions
   * that are older than the run.
   */
  async #watched(options: RunWatchOptions): Promise<RunWatch> {
    const past = options.tree === true ? await this.parts.past() : undefined;
    const { session, input } = this.place;
    const of = { session, run: this.id, ...(input === undefined ? {} : { input }) };
    return RunWatch.from(this.parts.world, of, options, past, this.parts.pastBefore);
  }
}

/** What a run made on its way. */
class Made {
  /** The text of the last error since the last answer. */
  failure: Ref | undefined;
  /** The problems of an answer that does not fit, in the last frame that was read. */
  unfit: Ref | undefined;
  /** The toolsets that are unreachable, by run. */
  readonly #unreachable = new Map<string | null, Set<string>>();
  readonly #files: { readonly run: string | null; readonly artifacts: readonly Artifact[] }[] = [];

  seeFrame(frame: WorldFrame): void {
    this.unfit = unfitReturnIn(frame);
  }

  see(event: AgentEvent): void {
    if (event.type === 'tool.completed')
      this.#files.push({ run: event.run_id, artifacts: event.artifacts.filter(isWhole) });
    if (event.type === 'llm_step.completed') this.failure = undefined;
    if (event.type === 'toolset.unreachable') this.#toolsetsOf(event.run_id).add(event.toolset);
    if (event.type === 'toolset.reachable') this.#toolsetsOf(event.run_id).delete(event.toolset);
    if ('error_ref' in event && event.error_ref !== undefined) this.failure = event.error_ref;
  }

  #toolsetsOf(run: string | null): Set<string> {
    const known = this.#unreachable.get(run) ?? new Set();
    this.#unreachable.set(run, known);
    return known;
  }

  /** The toolsets that one run could not reach. */
  unreachableOf(run: string): readonly string[] {
    return [...this.#toolsetsOf(run)].sort();
  }

  /** The files of one run. */
  of(run: string): readonly Artifact[] {
    return this.#files.flatMap((made) => (made.run === run ? made.artifacts : []));
  }
}

/** Operators are shown each artifact with its content. */
function isWhole(artifact: Partial<Artifact>): artifact is Artifact {
  return artifact.blob_ref !== undefined;
}

/** The error of a run that did not complete: the words of its provider are its cause. */
function runFailed(run: string, stop: StopReason, error: ErrorDetail | undefined): RepriseError {
  const code = stop.kind === 'Failed' ? stop.code : stop.kind === 'LimitsExceeded' ? stop.limit : stop.kind;
  const said =
    stop.kind === 'Failed'
      ? `: ${failureWords(code, error)}`
      : stop.kind === 'LimitsExceeded'
        ? ` at ${limitWords(stop.limit)}`
        : '';
  return new RepriseError('run_failed', `run ${run} ended as ${stop.kind}${said}`, {
    actual: code,
    stop,
    ...(error === undefined ? {} : { cause: causeOf(error) }),
    hint: 'Read run.result() for the reason as data, or the world with `reprise tail`.',
  });
}

/** Restores an error from its recorded text: each line is the cause of the line above. */
function causeOf({ causes = [], ...error }: ErrorDetail): Error {
  const [next, ...rest] = causes;
  const below = next === undefined ? {} : { cause: causeOf({ ...next, causes: rest }) };
  const { message, ...named } = error;
  return Object.assign(new Error(message, below), named);
}

/** The error that ended the watch: the reason itself, which all watches share, unless the world was closed normally. */
function closedEarly(run: string, reason: RepriseError | undefined, from: CallSite): RepriseError {
  if (reason !== undefined && reason.code !== 'world_closed') return reason;
  const error = new RepriseError('world_closed', `the world was closed before run ${run} ended`, {
    ...present({ where: reason?.details.where }),
    hint: 'The run goes on when the world is opened again. If a function returned it without `await`, `await using` closed the world at once: write `return await run.text()`.',
  });
  return from.mark(error);
}

/** The error of a read that began after the world was closed; the run may have ended before. */
function readLate(run: string, { details }: RepriseError, from: CallSite): RepriseError {
  const error = new RepriseError('world_closed', `the world was closed before run ${run} was read`, {
    ...present({ where: details.where }),
    hint: 'Read the run before the world is closed, or open the world again: `await using` closes it at the end of its block.',
  });
  return from.mark(error);
}
