/**
 * Opens a world: takes the lock, replays the tail, settles the effects that a crash interrupted, and starts working.
 *
 * The order of the steps carries promises, and each has its reason:
 * - The store is taken first: what is read afterwards, no other process changes (one writer).
 * - A store that was moved away is refused, and a fork that a crash interrupted is finished, before the first frame is
 *   read: until then the store is not the journal of a world.
 * - The tail is replayed with the code that wrote it before the app may begin an era: an app that cannot continue the
 *   world is refused when nothing has been written (RPL-13).
 * - An erasure that a crash interrupted ends before anything can read the content that it names.
 * - Interrupted effects are settled in the order of their emission, and before any effect starts (EFF-12): a plan must not
 *   see the answer of a new effect before it knows what became of an older one.
 * - Timers come last: those that were due while the world was closed fire once, behind all of that (RED-24).
 */
import { type Address, type Capability, formatAddress, present, type RepriseError } from '@reprise/contracts';
import { ContentLayer } from '../../ports/content/content-layer.js';
import type { ContentStore } from '../../ports/content/port.js';
import type { OpenStore } from '../../ports/store/store.js';
import { type RandomBytes, systemRandom } from '../../ports/time/clock.js';
import { CLOCK_JUMP_LIMITS, type ClockJump, Stamper } from '../../ports/time/stamper.js';
import { NOTHING } from '../../pure/authority/index.js';
import { portableSha256 } from '../../pure/codec/index.js';
import { type EngineEnv, WORLD_KEY, type WorldLeaf } from '../../pure/engine/index.js';
import { finishFork } from '../../replay/fork/unfinished.js';
import { keepUnsettled, noteInUse, requireInPlace, unsettledNote } from '../../replay/move/index.js';
import { type CurrentEra, currentEra } from '../../replay/verify/era/current-era.js';
import { Replayer } from '../../replay/verify/era/replayer.js';
import { startFrom } from '../../replay/verify/era/start-from.js';
import { refusalOfTail } from '../../replay/verify/era/tail-refusal.js';
import { FROM_BYTES_EVERY } from '../../state/decoded-leaves.js';
import { readAuthority } from '../../state/holder-rights.js';
import { LeafTable } from '../../state/leaf-table.js';
import { MerkleMap } from '../../state/map/index.js';
import { storedNodes } from '../../state/value-nodes.js';
import { worldOf } from '../../state/world-leaf.js';
import { Callers } from '../callers/callers.js';
import { Dispatcher } from '../dispatch/dispatcher.js';
import type { Executor } from '../dispatch/executor.js';
import { effectLeaves } from './ask/effect-leaves.js';
import { type ClockConfirmation, confirmClock } from './life/confirm-clock.js';
import { Eraser, finishErasure } from './life/erasure.js';
import { makeExecutor, noSecrets, settle } from './open/executor.js';
import { requireExpectedHead } from './open/expected-head.js';
import { reportLargeStates } from './open/large-states.js';
import { openEra } from './open/open-era.js';
import { Operator } from './open/operator.js';
import { type OpenKernelWorldOptions, requireOptions } from './open/options.js';
import { type Interrupted, recoverEffects } from './open/recovery.js';
import { frameReader } from './read/reading.js';
import { RecentFrames } from './read/recent-frames.js';
import { Watchers } from './read/watchers.js';
import { World } from './world.js';
import { type Ack, ackOfFrame } from './write/acknowledgement.js';
import type { CommittedFrame, IngressOutcome } from './write/ingress.js';
import { continueInput, type OwnInput, timerInput } from './write/own-inputs.js';
import { Snapshots, weightOf } from './write/snapshots.js';
import { Stepper, type StepperHost } from './write/stepper.js';
import type { Suspicion } from './write/suspects.js';
import { TimerDriver, TimerQueue } from './write/timers.js';
import { watchedStore } from './write/watched-store.js';
import { tenureOver } from './write/write-failures.js';

/**
 * Opens a world for writing.
 *
 * @throws RepriseError `world_locked`, `world_linked`, `world_incomplete`, `head_mismatch`, `semantics_unknown`,
 *   `journal_damaged`, `replay_divergence` when the tail
 *   executes differently with this app, `store_full`, `store_failed`, `fork_unfinished`, `invalid_argument`; and, when the app has
 * changed, `manifest_mismatch`, `era_incompatible` and `plan_in_flight`, or, when the given pure code is not that of
 * the app, `code_mismatch` and `code_failed`: then nothing is written
 * @example
 * await using world = await openWorld({ store: memory(), app: defineApp({ reducers: [counter] }) })
 * await world.request(['demo/Counter@1', 'a'], { name: 'demo/Added@1', value: { by: 2 } })
 */
export async function openKernelWorld(options: OpenKernelWorldOptions): Promise<World> {
  requireOptions(options);
  const operator = new Operator(options);
  const { storeWatch } = operator;
  const store = watchedStore(await storeWatch.during(() => options.store.open()), storeWatch);
  const opening = new Opening(options, store, operator);
  try {
    return await opening.open();
  } catch (error) {
    storeWatch.end();
    if (!opening.works) await keepUnsettled(store).catch(() => undefined); // a store that cannot write says so at its close
    await store.close();
    throw error;
  }
}

class Opening implements StepperHost {
  readonly #env: EngineEnv;
  readonly #table: LeafTable;
  readonly #random: RandomBytes;
  readonly #watchers = new Watchers();
  readonly #recent: RecentFrames;
  readonly #content: ContentStore;
  readonly #ended = deferred<RepriseError>();
  readonly #timers = new TimerQueue();
  readonly #callers = new Callers();
  #stepper!: Stepper;
  #executor!: Executor;
  #timerDriver!: TimerDriver;
  #stamper!: Stamper;
  #snapshots!: Snapshots;
  #recovers = false;
  #working = false;
  readonly #submit = (input: OwnInput): Promise<IngressOutcome> =>
    new Promise((settle) => this.#stepper.submit({ own: true, settle, ...input }));

  constructor(
    private readonly options: OpenKernelWorldOptions,
    private readonly store: OpenStore,
    private readonly operator: Operator,
  ) {
    const hash = store.hash ?? portableSha256;
    this.#env = { app: options.app, hash, plans: new WeakMap() };
    this.#table = new LeafTable(new MerkleMap(storedNodes(store.content), hash));
    this.#recent = new RecentFrames(frameReader(store.journal));
    this.#random = options.random ?? systemRandom;
    this.#content = new ContentLayer(store.content);
  }

  /** Whether it has folded an input, so that it was not refused before that. */
  get works(): boolean {
    return this.#recovers;
  }

  async open(): Promise<World> {
    const { expectHead } = this.options;
    this.operator.postTo(this.store);
    if (expectHead !== undefined) await requireExpectedHead(this.store.journal, expectHead);
    requireInPlace(this.store);
    await finishFork(this.store);
    const era = await currentEra(this.store, this.options.app, this.options.legacy ?? []);
    await this.#replayTail(era);
    this.#executor = this.#makeExecutor();
    this.#timerDriver = new TimerDriver(
      this.#timers,
      this.operator.clock,
      () => this.#stamper.now(),
      (timer) => void this.#submit(timerInput(timer)),
    );
    // From here on everything that a closing world stops is there: a lease may have ended during the replay.
    void this.store.tenure?.lost.then(() => this.#stepper.close(tenureOver()));
    await finishErasure(this.store); // before anything can read the content to erase
    await noteInUse(this.store);
    await this.#openEra(era);
    const world = this.#makeWorld(era === undefined);
    await this.#recover();
    return world;
  }

  #makeExecutor(): Executor {
    const parts = {
      options: this.options,
      store: this.store,
      stepper: this.#stepper,
      clock: this.operator.clock,
      scrubber: this.operator.scrubber,
      troubles: this.operator.troubles,
      content: this.#content,
      services: this.operator.services,
      callers: this.#callers,
      now: () => this.#stamper.now(),
      rights: (cell: Address) => this.#rights(cell),
      submit: this.#submit,
    };
    return makeExecutor(parts, this.#forkOf());
  }

  async #openEra(era: CurrentEra | undefined): Promise<void> {
    const parts = {
      options: this.options,
      store: this.store,
      table: this.#table,
      stepper: this.#stepper,
      snapshots: this.#snapshots,
      random: this.#random,
      hash: this.#env.hash,
      worldLeaf: () => this.#worldLeaf(),
    };
    await openEra(parts, era);
  }

  /** A secret is registered with the scrubber before anything gets it. */
  async #secret(name: string): Promise<string> {
    const text = await (this.options.secrets ?? noSecrets)(name);
    if (typeof text === 'string') this.operator.scrubber.conceal(text);
    return text;
  }

  #makeWorld(created: boolean): World {
    const { options, store } = this;
    const { world: id, fork } = this.#worldLeaf();
    return new World({
      id,
      label: options.store.label,
      fork,
      created,
      app: options.app,
      legacy: options.legacy ?? [],
      store,
      table: this.#table,
      stepper: this.#stepper,
      eraser: new Eraser({ store, table: this.#table, stepper: this.#stepper, hash: this.#env.hash }),
      executor: this.#executor,
      timers: this.#timers,
      timerDriver: this.#timerDriver,
      stamper: this.#stamper,
      clock: this.operator.clock,
      random: this.#random,
      watchers: this.#watchers,
      recent: this.#recent,
      callers: this.#callers,
      operator: this.operator,
      content: this.#content,
      drive: options.drive ?? 'auto',
      secret: (name) => this.#secret(name),
      snapshot: () => this.#snapshots.take(),
      ended: this.#ended.promise,
      confirmClock: (confirmation) => this.#confirmClock(confirmation),
    });
  }

  /** Loads the newest snapshot and replays the frames after it, with the era's own definitions. */
  async #replayTail(era: CurrentEra | undefined): Promise<void> {
    const { journal } = this.store;
    const start = await startFrom(this.store, this.#table, Number.MAX_SAFE_INTEGER);
    // Caches hold values made by this app; another app must not see them.
    const env = era === undefined || era.same ? this.#env : { app: era.eraApp, hash: this.#env.hash };
    const replayer = new Replayer(env, this.#table, start);
    let lastAt = start.at;
    const tail = { frames: 0, weight: 0 };
    try {
      for await (const stored of journal.read(start.seq + 1)) {
        const { inputs } = await replayer.step(stored);
        lastAt = inputs.ingress.kind === 'clock' ? inputs.ingress.wall : inputs.ingress.at;
        tail.frames++;
        tail.weight += weightOf(stored.bytes.length);
      }
    } catch (error) {
      throw era === undefined ? error : refusalOfTail(error, era);
    }
    this.#stamper = this.#makeStamper(lastAt);
    this.operator.follow(this.#stamper);
    this.#stepper = new Stepper(
      {
        env: this.#env,
        table: this.#table,
        journal,
        content: this.store.content,
        clock: this.operator.clock,
        stamper: this.#stamper,
        host: this,
        recheckEvery: this.options.recheckEvery ?? FROM_BYTES_EVERY,
        ...present({ tenure: this.store.tenure }),
        ...this.#suspicion(),
      },
      { seq: replayer.head.seq, digest: replayer.head.digest },
    );
    const { snapshotEvery: every } = this.options;
    this.#snapshots = new Snapshots({ table: this.#table, stepper: this.#stepper, every }, tail);
  }

  /** After an unclean end the first own inputs are suspected. */
  #suspicion(): { readonly suspicion?: Suspicion } {
    const { store } = this;
    const unsettled = unsettledNote(store);
    if (store.cleanlyClosed && unsettled === undefined) return {};
    const note = (text: string | null): Promise<void> => store.mark(text);
    const answerFor = store.answerFor?.bind(store);
    const died = store.ended !== 'lost';
    return { suspicion: { noted: unsettled ?? store.markAtOpen, died, note, ...(answerFor && { answerFor }) } };
  }

  #makeStamper(lastAt: number | undefined): Stamper {
    const { clockJump, onClockJump } = this.options;
    return new Stamper({
      clock: this.operator.clock,
      lastAt,
      limits: { ...CLOCK_JUMP_LIMITS, ...clockJump },
      leapt: () => this.operator.clock.wake(),
      jumped: (jump) => {
        tellJump(onClockJump, jump);
        this.operator.clockJumped(jump);
      },
    });
  }

  #worldLeaf(): WorldLeaf {
    return worldOf(this.#table.get(WORLD_KEY));
  }

  /** Settles the interrupted work of a crash, in order: cascade, effects, overdue timers. */
  async #recover(): Promise<void> {
    this.#recovers = true;
    const effects = effectLeaves(this.#table);
    for (const { effect, leaf } of effects) this.#executor.adopt(effect, leaf);
    for (const { key } of this.#table.list('timer')) this.#timers.add(key);
    if ([...this.#table.list('pending')].length > 0) await this.#submit(continueInput);
    await this.#recoverEffects(effects.filter(({ leaf }) => leaf.attempt > 0 && leaf.deferred === undefined));
    if (this.#stepper.closedBy !== undefined) throw this.#stepper.closedBy;
    this.#stepper.waitForRoom();
    this.#working = true;
    if (this.options.drive === 'manual') return;
    this.#executor.enable();
    this.#timerDriver.run();
  }

  async #recoverEffects(interrupted: readonly Interrupted[]): Promise<void> {
    const dispatcher = this.#executor;
    if (!(dispatcher instanceof Dispatcher)) return; // a dry fork arms nothing
    await recoverEffects(interrupted, {
      dispatcher,
      clock: this.operator.clock,
      settle: (effect, attempt, receipt) => settle(this.#submit, effect, attempt, receipt),
    });
  }

  /** How the world was forked. A new world has no leaf yet. */
  #forkOf(): WorldLeaf['fork'] {
    return this.#table.get(WORLD_KEY)?.fork;
  }

  /** The current rights of a cell; none when its chain of authority is broken. */
  async #rights(cell: Address): Promise<Capability> {
    const authority = await this.#stepper.exclusively(() => readAuthority(this.#table, `cell:${formatAddress(cell)}`));
    return authority.effective?.exercise ?? NOTHING;
  }

  async #confirmClock(confirmation: ClockConfirmation): Promise<Ack> {
    const stepper = this.#stepper;
    return stepper.exclusively(async () => {
      const parts = { stamper: this.#stamper, commitAlone: stepper.commitAlone.bind(stepper) };
      return ackOfFrame(await confirmClock(confirmation, parts));
    });
  }

  // The StepperHost methods.

  reserve(emitted: Parameters<StepperHost['reserve']>[0]): readonly string[] {
    return this.#executor.reserve(emitted);
  }

  release(effects: readonly string[]): void {
    this.#executor.release(effects);
  }

  committed(frames: readonly CommittedFrame[]): void {
    for (const { changes, armed, aborts, faulted } of frames) {
      this.#executor.follow(changes, armed, aborts);
      for (const fault of faulted) this.operator.troubles.tellFault(fault);
      this.#timers.follow(changes);
      this.operator.listeners.follow(changes);
      if (this.options.onLargeState !== undefined) reportLargeStates(changes, this.options.onLargeState);
    }
    if (this.#working && this.options.drive !== 'manual') this.#timerDriver.run();
    this.#recent.committed(frames);
    this.#watchers.wake();
    this.#snapshots.follow(frames);
    this.operator.storeWatch.wrote();
  }

  commits<T>(waiting: number, commit: () => Promise<T>): Promise<T> {
    return this.operator.storeWatch.commit(waiting, commit);
  }

  storeFull(error: RepriseError, waiting: number): void {
    this.operator.storeWatch.full(error, waiting);
  }

  closed(error: RepriseError): void {
    this.#ended.resolve(error);
    this.#timerDriver.stop();
    this.operator.storeWatch.end();
    if (error.code === 'world_closed') this.#executor.disable();
    else {
      this.operator.ended(error);
      this.#executor.abandon(error.code === 'fenced' ? 'fenced' : 'world_failed');
    }
    this.#watchers.wake();
  }
}

function deferred<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function tellJump(watcher: OpenKernelWorldOptions['onClockJump'], jump: ClockJump | undefined): void {
  try {
    watcher?.(jump);
  } catch {
    // as above; `world.clockJump` still holds it
  }
}
