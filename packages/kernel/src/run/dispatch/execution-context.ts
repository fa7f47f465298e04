/**
 * What an adapter gets beside its parameters, and what it says through it. Most adapters use little of it, so the parts
 * are made when they are first asked for.
 */
import type { Address, Capability, Value } from '@reprise/contracts';
import type {
  AdapterContext,
  AnyAdapter,
  EffectQuestion,
  QuestionAnswer,
  ServiceFailure,
} from '../../ports/adapter/adapter.js';
import type { ContentStore } from '../../ports/content/port.js';
import type { Scrubber } from '../../ports/scrub/index.js';
import type { Tenure } from '../../ports/store/tenure.js';
import type { EffectLeaf } from '../../pure/engine/index.js';
import { Observations } from './observations.js';
import type { Questions } from './questions.js';
import { type EffectErrorOrigin, originOf, ReportedErrors, type TellTrouble } from './reported-errors.js';
import { ScrubbedContent } from './scrubbed-content.js';
import { ScrubbedNotes } from './scrubbed-notes.js';

/** The world of an execution, as its context reaches it. */
export interface ContextParts {
  readonly content: ContentStore;
  now(): number;
  secret(name: string): Promise<string>;
  /** Receives the telemetry of a running effect. */
  progress(effect: string, note: Value): void;
  /** The current rights of a cell. */
  rights(cell: Address): Promise<Capability>;
  /** Remembers the services that fail. */
  readonly services?: ServicesOutside;
  /** The ownership of a store that another process can take over; absent with a lock. */
  readonly tenure?: Tenure;
}

/** The services outside, as adapters speak of them. */
interface ServicesOutside {
  /** Reports that a service fails for an effect. */
  fails(service: string, failure: ServiceFailure, origin: EffectErrorOrigin): void;
  /** Reports that a service has answered. */
  works(service: string): void;
  ended(effect: string): void;
}

/** What the contexts of a world have in common. */
export interface Surroundings {
  readonly parts: ContextParts;
  readonly questions: Questions;
  readonly scrubber: Scrubber;
  readonly trouble: TellTrouble;
  readonly scope: object;
  /** The functions that are the same for all of them. */
  readonly ofWorld: Required<Pick<AdapterContext, 'now' | 'secret' | 'serviceWorks'>>;
}

/** Makes what all contexts of a world share. */
export function surroundingsOf(
  parts: ContextParts,
  questions: Questions,
  scrubber: Scrubber,
  trouble: TellTrouble,
): Surroundings {
  const ofWorld = {
    now: () => parts.now(),
    secret: (name: string) => secretOf(name, parts, scrubber),
    serviceWorks: (service: string) => parts.services?.works(service),
  };
  return { parts, questions, scrubber, trouble, scope: Object.freeze({}), ofWorld };
}

/** The execution that a context is made for. */
interface Executed {
  readonly effect: string;
  readonly leaf: EffectLeaf;
  readonly adapter: AnyAdapter;
  /** The signal that tells it to stop, the same each time. */
  signal(): AbortSignal;
  /** The author's code has returned; absent where no effect is executed. */
  returned?(): void;
  /** Whether the effect is still at its adapter, which may speak later. */
  isOpen(): boolean;
}

/** What an adapter has said while it executes one effect. Everything passes the scrubber of the world. */
export class Said {
  #notes: ScrubbedNotes | undefined;
  #asking: ReturnType<Questions['of']> | undefined;
  #reported: ReportedErrors | undefined;
  #observed: Observations | undefined;

  constructor(
    private readonly executed: Executed,
    private readonly surroundings: Surroundings,
  ) {}

  /** The errors reported so far; undefined without one. */
  get reported(): ReportedErrors | undefined {
    return this.#reported;
  }

  /** What was observed so far; undefined when nothing was. */
  get observed(): Observations | undefined {
    return this.#observed;
  }

  /** Ends the notes: what was held back of them is reported. */
  toldAll(): void {
    this.#notes?.end();
  }

  observe(observed: unknown): void {
    this.#observed ??= new Observations(this.surroundings.scrubber);
    this.#observed.add(observed);
  }

  note(note: Value): void {
    const { parts, scrubber } = this.surroundings;
    this.#notes ??= new ScrubbedNotes(scrubber, (told) => parts.progress(this.executed.effect, told));
    this.#notes.take(note);
  }

  ask(asked: EffectQuestion): Promise<QuestionAnswer> {
    const { effect, leaf } = this.executed;
    const { questions, scrubber } = this.surroundings;
    this.#asking ??= questions.of(effect, leaf.attempt, this.executed.signal());
    return this.#asking.ask({ ...asked, question: scrubber.value(asked.question) });
  }

  report(error: unknown): void {
    this.#reported ??= new ReportedErrors((told) => this.surroundings.trouble(told, this.#origin));
    this.#reported.add(error);
  }

  serviceFails(service: string, failure: ServiceFailure): void {
    const again = failure.again && this.executed.isOpen();
    this.surroundings.parts.services?.fails(service, { ...failure, again }, this.#origin);
  }

  get #origin(): EffectErrorOrigin {
    const { effect, leaf, adapter } = this.executed;
    return originOf(effect, leaf, adapter);
  }
}

/** The execution of a context. */
const EXECUTED = Symbol('executed');

/**
 * The signal of a context, made when it is asked for. One getter for all contexts: with an accessor of its own each, V8
 * keeps every context as a table, which takes 3 µs and 2.4 kB an effect instead of 0.3 and 0.9.
 */
const SIGNAL = {
  enumerable: true,
  configurable: true,
  get(this: { readonly [EXECUTED]: Executed }): AbortSignal {
    return this[EXECUTED].signal();
  },
};

/** A context before it has its signal. */
type Unsignalled = { -readonly [K in keyof Omit<AdapterContext, 'signal'>]: AdapterContext[K] };

/** Makes the context of an execution: a plain object, since an adapter may spread it or take it apart. */
export function contextOf(executed: Executed, said: Said, surroundings: Surroundings): AdapterContext {
  const { effect, leaf } = executed;
  const { parts, scrubber, scope, ofWorld } = surroundings;
  const content = new ScrubbedContent(parts.content, scrubber);
  const context: Unsignalled = {
    idempotencyKey: effect,
    attempt: leaf.attempt,
    deadline: leaf.deadline,
    content,
    scope,
    scrubber,
    now: ofWorld.now,
    secret: ofWorld.secret,
    serviceWorks: ofWorld.serviceWorks,
    wasScrubbed: (ref) => content.wasScrubbed(ref),
    observe: (observed) => said.observe(observed),
    progress: (note) => said.note(note),
    rights: () => parts.rights([leaf.plan[0], leaf.plan[1]]),
    ask: (asked) => said.ask(asked),
    report: (error) => said.report(error),
    serviceFails: (service, failure) => said.serviceFails(service, failure),
    returned: () => executed.returned?.(),
  };
  if (parts.tenure !== undefined) context.epoch = parts.tenure.epoch;
  if (leaf.approved !== undefined) context.approvedBy = leaf.approved.by;
  Object.defineProperty(context, EXECUTED, { value: executed });
  return Object.defineProperty(context, 'signal', SIGNAL) as AdapterContext;
}

/** A secret is registered with the scrubber before the adapter gets it. */
async function secretOf(name: string, parts: ContextParts, scrubber: Scrubber): Promise<string> {
  const text = await parts.secret(name);
  if (typeof text === 'string') scrubber.conceal(text);
  return text;
}
