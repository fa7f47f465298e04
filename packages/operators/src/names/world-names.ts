/** The names of a world's sessions and agents, from what the journal says when they are made. */
import type { SessionState } from '@reprise/agent/contracts';
import { type Address, formatAddress, type JournalRecord, type Value } from '@reprise/contracts';
import type { SnapshotCell, SnapshotLeaves } from '@reprise/kernel/inspect';
import { textsIn } from '../skim/index.js';
import { type Making, type Owner, ownerOfCell, ownerOfSession } from './owner.js';
import { REDUCERS } from './reducers.js';

type Fields = Readonly<Record<string, Value | undefined>>;

/** The events that name agents and people. */
const ADOPTED = 'aos.agent/AgentAdopted@1';
const ENTITIES: readonly string[] = ['society/Make@1', 'society/Human@1'];

/** What the bytes of each frame hold that names an agent or a person. */
export const HOLDING_NAMES: readonly Buffer[] = textsIn([ADOPTED, ...ENTITIES]);

/** Follows who is made. Memory is bounded by the number of sessions and agents of the world. */
export class WorldNames {
  readonly #sessions = new Map<string, Making>();
  readonly #entities = new Map<string, string>();
  readonly #owners = new Map<string, Owner>();

  /** The display name of an agent or a person of a society. */
  readonly entityName = (id: string): string | undefined => this.#entities.get(id);

  /** Takes the name of an agent or a person, as its cell says it. */
  name({ address, state }: Pick<SnapshotCell, 'address' | 'state'>): void {
    this.#name(address[1], state as Fields);
  }

  /** Takes the sessions and agents that a snapshot holds. */
  async load(snapshot: SnapshotLeaves): Promise<void> {
    for await (const { address, maker, state } of snapshot.cells([REDUCERS.session, REDUCERS.entity])) {
      if (address[0] === REDUCERS.entity) this.#name(address[1], state as Fields);
      else {
        const { config, labels } = state as unknown as SessionState;
        this.#sessions.set(address[1], { agent: config.agent, labels, maker });
      }
    }
  }

  /** Takes a record of the journal. */
  take(record: JournalRecord): void {
    if (record.kind !== 'event' && record.kind !== 'request') return;
    const { to, event } = record;
    if (to[0] === REDUCERS.session && event.name === ADOPTED)
      this.#adopt(to[1], event.value as Fields, record.kind === 'event' ? record.from : null);
    if (to[0] === REDUCERS.entity && ENTITIES.includes(event.name)) this.#name(to[1], event.value as Fields);
  }

  /** To whom a cell belongs: its agent, and its part of an organization. */
  ownerOf(cell: Address): Owner {
    const key = formatAddress(cell);
    const known = this.#owners.get(key);
    if (known !== undefined) return known;
    const making = cell[0] === REDUCERS.session ? this.#sessions.get(cell[1]) : undefined;
    const owner =
      cell[0] === REDUCERS.session
        ? ownerOfSession(cell, this.#inherited(making ?? UNKNOWN), this.entityName)
        : ownerOfCell(cell, this.entityName);
    this.#owners.set(key, owner);
    return owner;
  }

  /** A child session belongs where the session that made it belongs. */
  #inherited(making: Making): Making {
    let { maker, labels } = making;
    for (let depth = 0; maker !== null && maker[0] === REDUCERS.session && depth < DEPTH_MAX; depth++) {
      const above = this.#sessions.get(maker[1]);
      if (above === undefined) break;
      ({ maker, labels } = above);
    }
    return { agent: making.agent, labels, maker };
  }

  #adopt(session: string, { config, labels }: Fields, maker: Making['maker']): void {
    const { agent } = (config ?? {}) as Fields;
    const known = this.#sessions.get(session);
    this.#sessions.set(session, {
      agent: typeof agent === 'string' ? agent : null,
      labels: known?.labels ?? ((labels ?? {}) as SessionState['labels']),
      maker: known?.maker ?? maker,
    });
    this.#owners.clear();
  }

  #name(id: string, { display_name: name }: Fields): void {
    if (typeof name !== 'string' || this.#entities.get(id) === name) return;
    this.#entities.set(id, name);
    this.#owners.clear();
  }
}

/** Deeper than sessions may stand below each other. */
const DEPTH_MAX = 32;

const UNKNOWN: Making = { agent: null, labels: {}, maker: null };
