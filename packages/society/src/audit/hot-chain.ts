/**
 * The hot contexts of entities: each is written again from the events that it took, so each link of its chain can be
 * computed again (SOC-13). Contents are links there, so erased texts do not matter.
 */

import type { JournalRecord, Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { encode, hostSha256, toHex } from '@reprise/kernel';
import { ENTITY, L1, type L1State, l1Commands, l1Facts, NO_FIELDS } from '../pure/contracts/index.js';
import { type LinkedL1, linkContent } from '../pure/reducer/memory/l1.js';
import {
  type AuditCheck,
  type AuditRecord,
  causeOf,
  type Delivered,
  eventTo,
  factOf,
  type Problems,
  placeOf,
} from './reading.js';
import type { AuditedLink } from './report.js';

const CHANGED = l1Facts['society/L1Changed@1'];
type Changed = z.infer<typeof CHANGED>;
type Cause = Changed['cause'];

const EVENT_OF: Readonly<Record<Cause, keyof typeof l1Commands>> = {
  opened: 'society/OpenL1@1',
  identified: 'society/IdentifyL1@1',
  written: 'society/WriteL1@1',
  session_start: 'society/SessionL1@1',
  session_end: 'society/SessionL1@1',
  synced: 'society/SyncL1@1',
  forgotten: 'society/ForgetL1@1',
};

const MOVES: ReadonlySet<Cause> = new Set(['opened', 'session_start', 'session_end']);

/** A hot context as its events have made it. */
interface Hot {
  linked: LinkedL1;
  capabilities: Value;
  version: number;
  count: number;
  /** The link as it was recorded, and as it was computed: after a forged one, the next may follow from either. */
  recorded: string | null;
  computed: string | null;
  readonly links: AuditedLink[];
}

/** Follows hot contexts, and checks each link of their chains. */
export class HotChainCheck implements AuditCheck {
  readonly #hot = new Map<string, Hot>();
  /** The events of this cascade for hot contexts that no change was seen of yet: a change in a later frame does not name its event. */
  #waiting = new Map<string, Delivered[]>();

  constructor(private readonly problems: Problems) {}

  take(read: AuditRecord): void {
    const { record, i } = read;
    if (i === 0 && record.kind !== 'continue') this.#waiting = new Map();
    const event = eventTo(L1, record);
    if (event !== undefined) this.#waiting.set(event.key, [...(this.#waiting.get(event.key) ?? []), event]);
    const fact = factOf(L1, record);
    if (fact?.name === 'society/L1Changed@1') this.#fact(fact, read);
    const begun = factOf(ENTITY, record);
    if (begun?.name === 'society/StatusChanged@1' && !this.#hot.has(begun.key)) this.#missing(begun.key, read);
  }

  linksOf(entity: string): readonly AuditedLink[] {
    return this.#hot.get(entity)?.links ?? [];
  }

  /** SOC-7: an agent that does something has a hot context from its beginning. */
  #missing(entity: string, read: AuditRecord): void {
    this.problems.add('chain_broken', entity, read, { expected: 'society/OpenL1@1', actual: null });
  }

  #fact({ key, value }: { readonly key: string; readonly value: Value }, read: AuditRecord): void {
    const parsed = CHANGED.safeParse(value);
    if (parsed.success && parsed.data.entity_id === key) this.#changed(key, parsed.data, read);
    else this.problems.add('chain_broken', key, read, { expected: 'a step of this hot context', actual: value });
  }

  #changed(entity: string, fact: Changed, read: AuditRecord): void {
    const event = this.#eventOf(entity, fact, read);
    const hot = this.#hot.get(entity) ?? newHot();
    this.#hot.set(entity, hot);
    const { version, cause, chain_hash, session_count } = fact;
    hot.links.push({ ...placeOf(read), version, cause, chain_hash, session_count });
    const count = hot.count + (cause === 'session_start' ? 1 : 0);
    const expected = { version: hot.version + 1, session_count: count };
    const isFirst = hot.version === 0;
    if (version !== expected.version || session_count !== count || isFirst !== (cause === 'opened'))
      this.problems.add('chain_broken', entity, read, { expected, actual: { version, session_count, cause } });
    const owner = `${ENTITY}/${entity}`;
    if (event === undefined)
      this.problems.add('chain_broken', entity, read, { expected: EVENT_OF[cause], actual: null });
    else apply(hot, event);
    if (event !== undefined && event.from?.join('/') !== owner)
      this.problems.add('link_forged', entity, read, { expected: owner, actual: event.from });
    Object.assign(hot, { version, count: session_count });
    this.#link(entity, hot, fact, read);
  }

  #link(entity: string, hot: Hot, { cause, chain_hash, session_count: count }: Changed, read: AuditRecord): void {
    const { recorded, computed, linked, capabilities } = hot;
    const next = (prev: string | null) => digestOf(linkContent(linked, { prev, count, capabilities }));
    const [expected, other] = MOVES.has(cause) ? [next(computed), next(recorded)] : [computed, recorded];
    if (chain_hash !== expected && chain_hash !== other)
      this.problems.add('link_forged', entity, read, { expected, actual: chain_hash });
    Object.assign(hot, { recorded: chain_hash, computed: chain_hash === other ? chain_hash : expected });
  }

  /** The event that a change follows from: the one that it names, or the first of this cascade that fits. */
  #eventOf(entity: string, { cause, version }: Changed, read: AuditRecord): Delivered | undefined {
    const waiting = this.#waiting.get(entity) ?? [];
    const named = causeOf(read);
    const at = named === undefined ? waiting.findIndex((one) => fits(one, cause, version)) : indexOf(named, waiting);
    const event = waiting[at];
    if (event === undefined || !fits(event, cause, version)) return undefined;
    this.#waiting.set(entity, waiting.slice(at + 1));
    return event;
  }
}

/** Events are kept as they are read, so the one of a record is found by its value. */
function indexOf(record: JournalRecord, waiting: readonly Delivered[]): number {
  const event = eventTo(L1, record);
  return event === undefined
    ? -1
    : waiting.findIndex(({ value, name }) => value === event.value && name === event.name);
}

function fits({ name, value }: Delivered, cause: Cause, version: number): boolean {
  if (name !== EVENT_OF[cause]) return false;
  if (cause === 'written') return value.expected_version === version - 1;
  if (cause === 'session_start' || cause === 'session_end') return `session_${value.phase}` === cause;
  return true;
}

/** Writes a change. What an event does not state, or states wrongly, stays as it was: then the next link differs. */
function apply(hot: Hot, { name, value }: Delivered): void {
  const { linked } = hot;
  if (name === 'society/ForgetL1@1') hot.linked = { ...linked, fields: NO_FIELDS };
  if (name === 'society/WriteL1@1') {
    const { patch = {} } = l1Commands[name].schema.safeParse(value).data ?? {};
    const { progress_ppm = linked.progress_ppm, refused: _, ...fields } = patch;
    hot.linked = { ...linked, progress_ppm, fields: { ...linked.fields, ...fields } as L1State['fields'] };
  }
  if (name !== 'society/OpenL1@1' && name !== 'society/IdentifyL1@1') return;
  const { capabilities = hot.capabilities, ...stated } = l1Commands[name].schema.safeParse(value).data ?? {};
  Object.assign(hot, { linked: { ...linked, ...stated }, capabilities });
}

function newHot(): Hot {
  const identity = { display_name: '', public_key: null };
  const linked = { parent_entity_id: null, agent_type: null, identity, fields: NO_FIELDS, progress_ppm: null };
  return { linked, capabilities: {}, version: 0, count: 0, recorded: null, computed: null, links: [] };
}

function digestOf(value: Value): string {
  return toHex(hostSha256()(encode(value)));
}
