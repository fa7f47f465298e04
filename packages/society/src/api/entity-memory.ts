/** The stores that an entity reaches, as an app uses them: each call is judged by the rights of the entity. */
import { present, requireKnownOptions } from '@reprise/contracts';
import { type Camel, wire } from '@reprise/org';
import type { ToolAnswer, ToolArgs } from '../wire/index.js';
import { type EntityCaller, type Page, type Pages, pagesOf } from './caller.js';
import type { By } from './requests.js';

/** An item that is to be written: its words, its type, and who may see it. */
export type WarmMemory = Camel<RecordedItem>;

type RecordedItem = Omit<ToolArgs<'memory_write_warm'>, 'command_id'>;

/** An item as it is read. Its words are null when they were erased. */
export type ReadMemory = ToolAnswer<'memory_read_warm'>['items'][number];

/** The most items of one reading. */
const READ_MAX = 50;

/** Writes, reads, finds and shares items as an entity. */
export class EntityMemory {
  constructor(private readonly entity: EntityCaller) {}

  /**
   * Writes an item: into the group that it names, or for the entity itself. Its words are content that can be erased.
   *
   * @returns its id; below a confidence of 0.3 its state is `quarantined`, and it is not found until another entity
   *   has validated it
   * @throws RepriseError `request_rejected` with `capability_denied`, `group_required`, `other_store` or `emcon` as its reason
   * @example
   * await ann.memory.write({ type: 'note', content: 'Bodies have at most 1 MiB.', visibility: 'group', group: 'crew' })
   */
  write(item: WarmMemory, by: By = {}): Promise<ToolAnswer<'memory_write_warm'>> {
    return this.entity.use('memory_write_warm', wire<RecordedItem>(item, 'memory.write'), by);
  }

  /**
   * Reads one item.
   *
   * @throws RepriseError `request_rejected` with `item_unknown` or `capability_denied` as its reason
   */
  async read(item_id: string): Promise<ReadMemory> {
    const { items } = await this.entity.use('memory_read_warm', { item_id });
    return items[0] as ReadMemory;
  }

  /**
   * The items of a group in the order in which they were written, a page at a time.
   *
   * @param query `after` is `next` of the page before; `limit` the most items of the page, 50 when absent
   */
  async list(
    group: string,
    query: { readonly after?: string; readonly limit?: number } = {},
  ): Promise<Pages<ReadMemory>> {
    requireKnownOptions(query, { after: true, limit: true }, 'list');
    const read = (page: Page) => this.entity.use('memory_read_warm', { group, ...page });
    return pagesOf({ limit: READ_MAX, ...query }, READ_MAX, read);
  }

  /**
   * Finds items by words.
   *
   * @param options `groups` are those that are asked, all that the entity reaches when absent; `k` the most items, 10 when absent
   * @returns the items, best first, the texts that were found, and how many stores were `withheld`
   */
  search(
    query: string,
    options: { readonly groups?: readonly string[]; readonly k?: number } = {},
  ): Promise<ToolAnswer<'memory_search'>> {
    requireKnownOptions(options, { groups: true, k: true }, 'search');
    const { groups, k } = options;
    return this.entity.use('memory_search', { query, ...present({ groups, k }) });
  }

  /** Copies an item into a group. The copy does not change with its origin; the same share again is the same copy. */
  share(item_id: string, group_id: string, by: By = {}): Promise<ToolAnswer<'memory_share'>> {
    return this.entity.use('memory_share', { item_id, group_id }, by);
  }

  /**
   * Validates an item that another entity has in quarantine: from then on it is found.
   *
   * @throws RepriseError `request_rejected` with `not_authorized` as its reason for the author and those below it
   */
  validate(item_id: string, by: By = {}): Promise<ToolAnswer<'memory_validate'>> {
    return this.entity.use('memory_validate', { item_id }, by);
  }
}
