/** Who made whom: people, agents and swarms, with the records that agents were made with. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type AgentRecord, agentIdOfKey, agentRecord, ENTITY, openSwarm, SWARM } from '../pure/contracts/index.js';
import {
  type AuditCheck,
  type AuditRecord,
  causeOf,
  cellName,
  type Delivered,
  eventTo,
  factOf,
  type Problems,
  placeOf,
} from './reading.js';
import type { AuditPlace } from './report.js';

export interface MadeAgent {
  readonly record: AgentRecord;
  /** The cell that made it; null for a request from outside. */
  readonly maker: string | null;
  readonly made: AuditPlace & { readonly i: number };
}

export class Lineage implements AuditCheck {
  readonly people = new Map<string, AuditPlace>();
  /** The agents that have begun, in the order in which they did. */
  readonly begun = new Map<string, MadeAgent>();
  readonly #made = new Map<string, MadeAgent>();
  readonly #swarms = new Map<string, { readonly creator: string; readonly maker: string | null }>();
  /** The swarms that have failed, perhaps before they formed: then their ids may be taken anew. */
  readonly #failed = new Set<string>();

  constructor(private readonly problems: Problems) {}

  take(read: AuditRecord): void {
    const { record } = read;
    const event = eventTo(ENTITY, record);
    if (event?.name === 'society/Make@1') this.#make(event.key, event.value, event.from, read);
    else if (event?.name === 'society/Unmake@1' && !this.begun.has(event.key)) this.#made.delete(event.key);
    const opening = eventTo(SWARM, record);
    if (opening?.name === 'society/OpenSwarm@1') this.#open(opening, record.kind === 'request');
    this.#openedAgain(read);
    const changed = factOf(SWARM, record);
    if (changed?.name === 'society/SwarmChanged@1' && changed.value.status === 'failed') this.#failed.add(changed.key);
    const fact = factOf(ENTITY, record);
    if (fact?.name === 'society/Registered@1') this.#begin(fact.key, fact.value, read);
    if (record.kind === 'fault') this.#drop(read);
  }

  /** The cell that made a cell; null for one that was made from outside, undefined for one that is not of a society. */
  makerOf(cell: string): string | null | undefined {
    const id = keyIn(cell, ENTITY);
    if (id !== undefined) return this.people.has(id) ? null : this.#made.get(id)?.maker;
    const swarm = keyIn(cell, SWARM);
    return swarm === undefined ? undefined : this.#swarms.get(swarm)?.maker;
  }

  has(agent: string): boolean {
    return this.#made.has(agent);
  }

  #make(id: string, value: unknown, from: Delivered['from'], read: AuditRecord): void {
    const parsed = agentRecord.safeParse(value);
    if (!parsed.success || parsed.data.agent_id !== id || this.#made.has(id) || this.people.has(id)) return;
    const maker = from === null ? null : cellName(from);
    this.#made.set(id, { record: parsed.data, maker, made: { ...placeOf(read), i: read.i } });
  }

  /** A swarm that is there refuses to be opened by a cell; a request that it refuses is not in the journal. */
  #open({ key, value, from }: Delivered & { readonly key: string }, isTaken: boolean): void {
    const parsed = openSwarm.safeParse(value);
    // An entity hears whether its opening was taken. Of an app's cell nobody does: where one can have been taken, it was.
    const isOfApp = from !== null && from[0] !== ENTITY && this.#failed.has(key);
    if (!parsed.success || (this.#swarms.has(key) && !isTaken && !isOfApp)) return;
    const { creator } = parsed.data;
    this.#failed.delete(key);
    this.#swarms.set(key, { creator, maker: from === null ? null : cellName(from) });
  }

  /** A swarm that was refused while it formed is gone: its id may be taken anew, and the maker hears that it was. */
  #openedAgain(read: AuditRecord): void {
    const reply = eventTo(ENTITY, read.record);
    if (reply?.name !== 'sys/Reply@1' || reply.value.outcome !== 'accepted') return;
    const cause = causeOf(read);
    const opening = cause === undefined ? undefined : eventTo(SWARM, cause);
    if (opening?.name === 'society/OpenSwarm@1') this.#open(opening, true);
  }

  /** A making that was dropped made nothing. */
  #drop({ record, all }: AuditRecord): void {
    const cause = 'c' in record ? all[record.c] : undefined;
    const event = cause === undefined ? undefined : eventTo(ENTITY, cause);
    if (event?.name === 'society/Make@1' && !this.begun.has(event.key)) this.#made.delete(event.key);
  }

  #begin(id: string, fact: Delivered['value'], read: AuditRecord): void {
    if (fact.kind === 'person') {
      this.people.set(id, placeOf(read));
      return;
    }
    const made = this.#made.get(id);
    if (made === undefined) {
      this.problems.add('record_differs', id, read, { expected: 'a making', actual: null });
      return;
    }
    this.begun.set(id, made);
    this.#compare(id, made, fact, read);
    this.#requireParent(id, made);
    const own = agentIdOfKey(made.record.public_key);
    if (own !== id) this.problems.add('id_not_of_key', id, made.made, { expected: own, actual: id });
  }

  #compare(id: string, { record }: MadeAgent, fact: Delivered['value'], read: AuditRecord): void {
    const { agent_id, parent_entity_id, agent_type: kind, public_key, depth, expires_at } = record;
    const expected = { agent_id, parent_entity_id, kind, public_key, depth, expires_at };
    const differs = Object.entries(expected).some(([field, is]) => fact[field] !== is);
    if (differs) this.problems.add('record_differs', id, read, { expected, actual: fact });
  }

  /** SOC-4: the maker is the parent's entity, or a swarm that it created; one level above. */
  #requireParent(id: string, { record: { parent_entity_id: parent, depth }, maker, made }: MadeAgent): void {
    const entity = keyIn(maker ?? '', ENTITY);
    const swarm = this.#swarms.get(keyIn(maker ?? '', SWARM) ?? '');
    const isOfSwarm = swarm !== undefined && swarm.creator === parent && swarm.maker === `${ENTITY}/${parent}`;
    const level = this.people.has(parent) ? 0 : this.begun.get(parent)?.record.depth;
    if ((entity === parent || isOfSwarm) && level !== undefined && depth === level + 1) return;
    const actual = { maker, depth };
    const expected = { maker: `${ENTITY}/${parent}`, depth: level === undefined ? null : level + 1 };
    this.problems.add('parent_forged', id, made, { expected, actual });
  }
}

export function keyIn(cell: string, reducer: string): string | undefined {
  return cell.startsWith(`${reducer}/`) ? cell.slice(reducer.length + 1) : undefined;
}

/** The entity that a cell acts for: its own, or the one whose session it is. */
export function entityOfCell(cell: string): string | undefined {
  return keyIn(cell, ENTITY) ?? keyIn(cell, SESSION_REDUCER)?.split('/')[0];
}
