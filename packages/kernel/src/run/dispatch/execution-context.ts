/**
 * What an adapter gets beside its parameters. Most adapters use little of it, so its parts are made when they are first
 * asked for. It is a plain object, since an adapter may spread it.
 */
import type { Address, Capability, Value } from '@reprise/contracts';
import type { AdapterContext, AnyAdapter, ServiceFailure } from '../../ports/adapter/adapter.js';
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

/** The context of an adapter, and what the adapter has said through it. */
export interface ExecutionContext extends AdapterContext {
  /** Ends the notes: what was held back of them is reported. */
  toldAll(): void;
  /** The errors reported so far; undefined without one. */
  readonly reported: ReportedErrors | undefined;
  /** What was observed so far; undefined when nothing was. */
  readonly observed: Observations | undefined;
}

/** Makes the context of an execution. Everything that the adapter says passes the scrubber of the world. */
export function contextOf(executed: Executed, surroundings: Surroundings): ExecutionContext {
  const { effect, leaf, adapter } = executed;
  const { parts, questions, scrubber, trouble, scope } = surroundings;
  const origin = (): EffectErrorOrigin => originOf(effect, leaf, adapter);
  let [content, notes, asking]: [ScrubbedContent?, ScrubbedNotes?, ReturnType<Questions['of']>?] = [];
  let [reported, observed]: [ReportedErrors?, Observations?] = [];
  const ownContent = (): ScrubbedContent => {
    content ??= new ScrubbedContent(parts.content, scrubber);
    return content;
  };
  return {
    idempotencyKey: effect,
    attempt: leaf.attempt,
    ...(parts.tenure === undefined ? {} : { epoch: parts.tenure.epoch }),
    deadline: leaf.deadline,
    ...(leaf.approved === undefined ? {} : { approvedBy: leaf.approved.by }),
    get signal() {
      return executed.signal();
    },
    get content() {
      return ownContent();
    },
    scope,
    wasScrubbed: (ref) => content?.wasScrubbed(ref) ?? false,
    observe: (said) => {
      observed ??= new Observations(scrubber);
      observed.add(said);
    },
    get observed() {
      return observed;
    },
    now: () => parts.now(),
    progress: (note) => {
      notes ??= new ScrubbedNotes(scrubber, (told) => parts.progress(effect, told));
      notes.take(note);
    },
    rights: () => parts.rights([leaf.plan[0], leaf.plan[1]]),
    ask: (asked) => {
      asking ??= questions.of(effect, leaf.attempt, executed.signal());
      return asking.ask({ ...asked, question: scrubber.value(asked.question) });
    },
    secret: (name) => secretOf(name, surroundings),
    scrubber,
    report: (error) => {
      reported ??= new ReportedErrors((told) => trouble(told, origin()));
      reported.add(error);
    },
    get reported() {
      return reported;
    },
    serviceFails: (service, failure) => {
      parts.services?.fails(service, { ...failure, again: failure.again && executed.isOpen() }, origin());
    },
    serviceWorks: (service) => parts.services?.works(service),
    returned: () => executed.returned?.(),
    toldAll: () => notes?.end(),
  };
}

/** A secret is registered with the scrubber before the adapter gets it. */
async function secretOf(name: string, { parts, scrubber }: Surroundings): Promise<string> {
  const text = await parts.secret(name);
  if (typeof text === 'string') scrubber.conceal(text);
  return text;
}
