/** The handle of a store: for an app and its people. */
import { type AgentWorld, putText, readText } from '@reprise/agent';
import {
  type Address,
  formatAddress,
  isRepriseError,
  present,
  type Ref,
  RepriseError,
  requireKnownOptions,
  type Value,
  wellFormed,
} from '@reprise/contracts';
import {
  type ChainStep,
  didFact,
  type ItemState,
  type Place,
  SEARCH_ITEMS_DEFAULT,
  storeAt,
  type Trust,
  type WriteOperation,
  type Written,
} from '../pure/store/index.js';
import { type By, command, OrgCell } from './command.js';
import { provenanceOf } from './provenance.js';
import { factIn } from './reader.js';
import { type FoundRow, searchItems } from './search.js';
import { keepText, readItemText, unlessErased } from './texts.js';
import { type Did, memoryItems, memoryOutcomes } from './views.js';

/** A memory to be stored. One of `result`, `task`, `said` and `origin` is required: a store refuses what comes from nowhere. */
export interface NewMemory {
  readonly text: string;
  readonly tags?: readonly string[];
  /** The result and the task of the project that it comes from. */
  readonly result?: number;
  readonly task?: number;
  /** The words of the person that it comes from. */
  readonly said?: string;
  /** When it expires, in journal milliseconds. */
  readonly expires?: number;
  readonly trust?: Trust;
}

/** A memory as it is found. Times are in journal milliseconds. */
export interface Memory {
  readonly id: number;
  readonly summary: string | null;
  readonly tags: readonly string[];
  readonly score: number;
  readonly state: ItemState;
  readonly revision: number;
  readonly last_used_at: number;
  readonly expires_at: number | null;
  readonly author: string;
  readonly task?: number;
  readonly result?: number;
}

/** A memory with its whole text; null when it was erased. */
interface WholeMemory extends Memory {
  readonly text: string | null;
}

/** A memory that was found, with its rank: comparable only within one answer. */
export interface FoundMemory extends Memory {
  readonly rank: number;
}

/** Which memories a search finds. */
interface MemoryQuery {
  /** How many at most; 10 when absent, 1,000 at most. */
  readonly k?: number;
  /** Only memories with all of these tags. */
  readonly tags?: readonly string[];
  /** Also memories that are archived, quarantined, superseded or expired. */
  readonly includeArchived?: boolean;
}

/** Where a memory comes from: the memory first, and at last the words of a person. */
interface Why {
  readonly chain: readonly ChainStep[];
  /** The words of the person; null when they were erased or the chain is cut. */
  readonly words: string | null;
  /** Places that were never stated; empty in a sound world. */
  readonly dangling: readonly Place[];
}

/** What a change made of a memory. */
type Change = Pick<Written, 'score' | 'revision'>;

/** How a handle writes: to the store itself, or to the organization whose store it is. */
interface MemoryWriter {
  /** The cell that takes the requests, and the name of the event: its value is that of `memory/Say@1`. */
  readonly to: Address;
  readonly event: string;
  /** The organization whose results and tasks `store` names. */
  readonly cell: Address;
  /** Fields of the event besides those of `memory/Say@1`. */
  readonly fields?: Readonly<Record<string, Value>>;
  /** Refuses what the organization's cell would refuse, before a change that does not pass it: an erasure. */
  readonly require?: () => Promise<void>;
}

/** The event by which people and apps change a store. */
const SAY = 'memory/Say@1';

/**
 * The handle of a store.
 *
 * @param writer for a store of an organization that takes the requests itself
 */
export function memoryStoreOf(world: AgentWorld, scope: string, writer?: MemoryWriter): MemoryStore {
  return new MemoryStore(world, scope, writer ?? { to: storeAt(scope), event: SAY, cell: storeAt(scope) });
}

/** A store of memories, as an app and its people use it. */
export class MemoryStore {
  readonly #cell: OrgCell;

  constructor(
    private readonly world: AgentWorld,
    readonly scope: string,
    private readonly writer: MemoryWriter,
  ) {
    this.#cell = memoryCell(world, writer.to);
  }

  /** Finds memories by their words, the best first. It changes nothing. */
  async search(query: string, options: MemoryQuery = {}): Promise<readonly FoundMemory[]> {
    requireKnownOptions(options, QUERY_OPTIONS, 'search');
    const { k = SEARCH_ITEMS_DEFAULT, tags, includeArchived = false } = options;
    const terms = { query, k, all: includeArchived, ...(tags === undefined ? {} : { tags }) };
    const found = await searchItems(await this.world.views(), this.scope, terms, this.world.kernel.now);
    return Promise.all(found.map(async (one) => ({ ...(await this.#shown(one)), rank: one.rank })));
  }

  /** A memory with its whole text. It changes nothing. */
  async get(id: number): Promise<WholeMemory | undefined> {
    const row = await (await this.world.views()).view(memoryItems).get([this.scope, id]);
    if (row === undefined) return undefined;
    const text = await readItemText(this.world.kernel.content, row.content_ref);
    return { ...(await this.#shown({ id, row })), text };
  }

  /**
   * Stores a memory. The same id again is the same memory.
   *
   * @throws RepriseError `request_rejected` with `validation_error/origin` for a memory that comes from nowhere
   */
  async store(memory: NewMemory, by: By = {}): Promise<{ readonly id: number; readonly existed: boolean }> {
    requireKnownOptions(memory, NEW_MEMORY, 'store');
    const { text, tags = [], result, task, said, expires, trust = said === undefined ? 'curated' : 'user' } = memory;
    const { content } = this.world.kernel;
    const named = present({ result, task });
    const operation: WriteOperation = {
      op: 'store',
      key: by.id === undefined ? `at:${crypto.randomUUID()}` : `id:${by.id}`.slice(0, 128),
      ...(await keepText(content, wellFormed(text))),
      tags: [...tags],
      origin: Object.keys(named).length === 0 ? null : { cell: formatAddress(this.writer.cell), ...named },
      trust,
      ...(expires === undefined ? {} : { expires_at: expires }),
    };
    const said_ref = said === undefined ? undefined : await putText(content, wellFormed(said));
    const { id, existed } = await this.#write(operation, by, said_ref);
    return { id, existed };
  }

  /** Replaces the text of a memory. */
  async update(id: number, change: Pick<Partial<NewMemory>, 'text' | 'tags'>, by?: By): Promise<Change> {
    const { text, tags } = change;
    const kept = text === undefined ? {} : await keepText(this.world.kernel.content, wellFormed(text));
    return this.#change({ op: 'update', id, ...kept, ...(tags === undefined ? {} : { tags: [...tags] }) }, by);
  }

  /** Raises the score by 3, at most to 20. */
  reinforce(id: number, by?: By): Promise<Change> {
    return this.#change({ op: 'reinforce', id }, by);
  }

  /** Lowers the score by 1, at least to −10. */
  demote(id: number, by?: By): Promise<Change> {
    return this.#change({ op: 'demote', id }, by);
  }

  /** Takes a memory out of the searches. It is not deleted. */
  archive(id: number, by?: By): Promise<Change> {
    return this.#change({ op: 'move', id, state: 'archived' }, by);
  }

  /** Makes an archived or quarantined memory live again. */
  restore(id: number, by?: By): Promise<Change> {
    return this.#change({ op: 'move', id, state: 'live' }, by);
  }

  /** Where a memory comes from, step by step. */
  async why(id: number): Promise<Why | undefined> {
    const found = await provenanceOf(await this.world.views(), this.scope, id);
    if (found === undefined) return undefined;
    const { chain, text_ref, dangling } = found;
    const { content } = this.world.kernel;
    const words = text_ref === null ? null : await unlessErased(readText(content, text_ref), null);
    return { chain, words, dangling };
  }

  /** Erases the words of a memory for good; its number, score and origin stay. */
  async erase(id: number, by: By = {}): Promise<{ readonly erased: number }> {
    const row = await (await this.world.views()).view(memoryItems).get([this.scope, id]);
    if (row === undefined) return { erased: 0 };
    await this.writer.require?.();
    const { erased } = await this.world.kernel.erase({ refs: [row.content_ref, row.summary_ref] }, by);
    return { erased };
  }

  async #shown({ id, row }: Pick<FoundRow, 'id' | 'row'>): Promise<Memory> {
    const { summary_ref, tags, score, state, revision, last_used_at, expires_at, author, origin } = row;
    const summary = await readItemText(this.world.kernel.content, summary_ref);
    const { task, result } = origin ?? {};
    const shown = { id, summary, tags, score, state, revision, last_used_at, expires_at, author };
    return { ...shown, ...(task === undefined ? {} : { task }), ...(result === undefined ? {} : { result }) };
  }

  async #change(operation: WriteOperation, by?: By): Promise<Change> {
    const { score, revision } = await this.#write(operation, by);
    return { score, revision };
  }

  /** Requests with one id are one act: content that is stored again has other links, so its outcome is looked up. */
  async #write(operation: WriteOperation, by: By = {}, said_ref?: Ref): Promise<Written> {
    const { to, event, fields } = this.writer;
    const tag = by.id ?? crypto.randomUUID();
    const before = by.id === undefined ? undefined : await this.#outcome(tag);
    if (before !== undefined) return writtenOr(before, to);
    const value = { operation, tag, ...present({ said_ref }), ...fields };
    try {
      // The outcome is in the frame of the request, unless the operation waits for an approval.
      const did = await command(this.#cell, event, value, present({ id: tag, as: by.as }), {
        in: (record) => {
          const outcome = factIn(record, [DID, 'memory/Did@1']);
          return outcome?.tag === tag ? outcome : undefined;
        },
      });
      return writtenOr(did, to);
    } catch (error) {
      const twice = isRepriseError(error, 'request_differs') ? await this.#outcome(tag) : undefined;
      if (twice === undefined) throw error;
      return writtenOr(twice, to);
    }
  }

  async #outcome(tag: string): Promise<Did | undefined> {
    return (await this.world.views()).view(memoryOutcomes).get([formatAddress(this.writer.to), tag]);
  }
}

const QUERY_OPTIONS: Readonly<Record<keyof MemoryQuery, true>> = { k: true, tags: true, includeArchived: true };

const NEW_MEMORY: Readonly<Record<keyof NewMemory, true>> = {
  text: true,
  tags: true,
  result: true,
  task: true,
  said: true,
  expires: true,
  trust: true,
};

/** A cell that changes stores, as an app asks it. */
export function memoryCell({ kernel }: AgentWorld, at: Address): OrgCell {
  return new OrgCell(kernel, at, { part: 'memory', of: 'event' });
}

const DID = { 'memory/Did@1': didFact } as const;

/**
 * What a request did.
 *
 * @throws RepriseError `request_rejected` with the code of the refusal as its reason
 */
function writtenOr({ written, code }: Did, at: Address): Written {
  if (written !== null) return written;
  throw new RepriseError('request_rejected', `the store refused the operation: ${code}`, {
    where: formatAddress(at),
    reason: code ?? 'unknown',
  });
}
