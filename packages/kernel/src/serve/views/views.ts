/**
 * Views over a world: tables and text indexes that are folded from its durable frames, queried, and thrown away.
 *
 * Owns the public surface. Nothing here reaches the journal: no replay depends on a view.
 */

import {
  aFunction,
  anObject,
  isFields,
  isWhole,
  type KnownOptions,
  RepriseError,
  requireArgument,
  requireKnownOptions,
  requireMethods,
} from '@reprise/contracts';
import type { ReadonlyStore } from '../../ports/store/store.js';
import type { OpenViewStore, ViewStore } from '../../ports/views/port.js';
import { requireReadable } from '../../pure/arguments/stores.js';
import { decode, encodeKey, type RowKey } from '../../pure/codec/index.js';
import type { ProjectionDefinition, TextIndexDefinition } from '../../pure/define/index.js';
import type { World } from '../../run/world/world.js';
import type { Fold } from './fold-frame.js';
import { Keeper } from './keeper.js';
import { joined, PART } from './layout.js';
import { memoryViews } from './memory-views.js';
import { projectionFold } from './projection-fold.js';
import { readPage, type ViewPage, type ViewQuery, type ViewRow } from './query.js';
import { type FrameSource, storeSource, worldSource } from './source.js';
import { StoredView } from './stored-view.js';
import { textFold } from './text-fold.js';
import { searchText, type TextHits, type TextQuery } from './text-query.js';
import { firstDifference, type ViewDifference } from './verify.js';

/** A definition that can be opened as a view. */
export type ViewDefinition = ProjectionDefinition<unknown> | TextIndexDefinition;

/** Where views are stored, and who hears that one failed. */
interface OpenViewsOptions {
  /** Where they are stored; memory when absent, which every process fills again. */
  readonly store?: ViewStore;
  /**
   * Called when a view stops at a record that it cannot fold (`view_failed`), and when all views stop because the view
   * store or the journal failed.
   */
  readonly onFailed?: (error: RepriseError) => void;
}

/** The rows of a projection, as of the last frame folded into it. */
export interface View<Row> {
  /** The last frame folded into it. */
  readonly seq: number;
  /** Why it stopped, `view_failed` naming the record; undefined while it runs. */
  readonly failure: RepriseError | undefined;
  /** Like {@link Views.caughtUp}, for this view alone. */
  caughtUp(seq: number): Promise<void>;
  /** A row by its key; undefined without one. */
  get(key: RowKey): Promise<Row | undefined>;
  /** A page of rows. @throws RepriseError `invalid_argument` */
  query(query?: ViewQuery): Promise<ViewPage<Row>>;
  /** All rows of a query, page by page. Changes in the meantime may or may not be seen; no other row is affected. */
  each(query?: Omit<ViewQuery, 'after'>): AsyncGenerator<ViewRow<Row>>;
}

/** The documents of a text index, as of the last frame folded into it. */
export interface TextView extends Pick<View<never>, 'seq' | 'failure' | 'caughtUp'> {
  /** Documents with the words of a query, the best first. @throws RepriseError `invalid_argument` */
  search(query: TextQuery): Promise<TextHits>;
}

/** What a comparison of stored views with rebuilt ones found. */
interface ViewsReport {
  readonly views: readonly { readonly view: string; readonly seq: number; readonly entries: number }[];
  /** For each view, the first entry that differs from the rebuilt one. */
  readonly differences: readonly ViewDifference[];
}

/**
 * Opens views over an open world and keeps them up to date. They continue from their store; a view that no longer fits
 * the world or its definition is rebuilt from frame 0. Resolves before they have caught up: await
 * {@link Views.caughtUp}. Close them before the world.
 *
 * @throws RepriseError `duplicate_definition`, `invalid_argument`, `store_failed`
 * @example
 * const views = await openViews(world, [orders])
 * const { seq } = await world.request(…)
 * await views.caughtUp(seq)
 * const page = await views.view(orders).query({ index: 'status', under: 'placed' })
 */
export async function openViews(
  world: Pick<World, 'head' | 'content' | 'frames'>,
  definitions: readonly ViewDefinition[],
  options: OpenViewsOptions = {},
): Promise<Views> {
  requireMethods(world, ['frames'], 'openViews(world)', 'an open kernel world, such as world.kernel');
  requireDefinitions(definitions, 'openViews');
  requireViewOptions(options, 'openViews');
  const views = await Views.begin(worldSource(world), definitions, options);
  views.follow();
  return views;
}

/**
 * Views over a store that is open for reading, caught up with its head: for tools. Later frames are not followed.
 *
 * @throws RepriseError as {@link openViews}, and `journal_damaged`
 */
export async function readViews(
  store: Pick<ReadonlyStore, 'journal' | 'content'>,
  definitions: readonly ViewDefinition[],
  options: OpenViewsOptions = {},
): Promise<Views> {
  requireReadable(store, 'readViews');
  requireDefinitions(definitions, 'readViews');
  requireViewOptions(options, 'readViews');
  const views = await Views.begin(storeSource(store), definitions, options);
  await views.catchUp();
  return views;
}

/** Open views. Made by {@link openViews} and {@link readViews}. */
export class Views implements AsyncDisposable {
  #closing: Promise<void> | undefined;

  private constructor(
    private readonly source: FrameSource,
    private readonly store: OpenViewStore,
    private readonly definitions: readonly ViewDefinition[],
    private readonly kept: ReadonlyMap<string, StoredView>,
    private readonly keeper: Keeper,
  ) {}

  /** Opens views at their stored positions; nothing is folded yet. */
  static async begin(
    source: FrameSource,
    definitions: readonly ViewDefinition[],
    options: OpenViewsOptions,
  ): Promise<Views> {
    refuseMutants(definitions);
    const store = await (options.store ?? memoryViews()).open();
    const kept = new Map(definitions.map((one) => [one.name, new StoredView(foldOf(one, source), store)]));
    const keeper = new Keeper(source, store, [...kept.values()], options.onFailed);
    try {
      await keeper.begin();
    } catch (error) {
      await store.close();
      throw error;
    }
    return new Views(source, store, definitions, kept, keeper);
  }

  /** Follows the source from now on. */
  follow(): void {
    this.keeper.start();
  }

  /** Folds what the source has. */
  catchUp(): Promise<void> {
    return this.keeper.finish();
  }

  /** A projection to query. @throws RepriseError `invalid_argument` when it was not opened */
  view<Row>(projection: ProjectionDefinition<Row>): View<Row> {
    return new KeptProjection<Row>(projection, this.#keptOf(projection), this.store, this.keeper);
  }

  /** A text index to search. @throws RepriseError `invalid_argument` when it was not opened */
  text(index: TextIndexDefinition): TextView {
    return new KeptText(index, this.#keptOf(index), this.store, this.keeper);
  }

  /**
   * Resolves when every view shows frame `seq`, by default the head of the world: a caller with an acknowledgement then
   * reads the effect of its request.
   *
   * @throws RepriseError `view_failed` when a view stopped before it; `world_closed`
   */
  async caughtUp(seq?: number): Promise<void> {
    await this.keeper.caughtUp([...this.kept.values()], seq ?? (await this.source.head()).seq);
  }

  /**
   * The same views as they were after frame `seq`, in memory. Folds the journal from frame 0 to there, at the cost of
   * opening without a store.
   */
  at(seq: number): Promise<Views> {
    return this.#asOf(seq, this.definitions);
  }

  /** Rebuilds every view in memory and compares the entries in bytes. Nothing is read or committed meanwhile. */
  async verify(): Promise<ViewsReport> {
    const views: { view: string; seq: number; entries: number }[] = [];
    const differences: ViewDifference[] = [];
    for (const definition of this.definitions) {
      const { report, difference } = await this.#verifyOne(definition);
      views.push(report);
      if (difference !== undefined) differences.push(difference);
    }
    return { views, differences };
  }

  /** Stops following, writes what was folded, and closes the store. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.keeper.stop().then(() => this.store.close());
    return this.#closing;
  }

  /** `await using views = …` closes them. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Compared between commits: the rebuilt view ends at the same frame as this one. */
  async #verifyOne(definition: ViewDefinition) {
    const kept = this.#keptOf(definition);
    return this.keeper.gate.alone(async () => {
      const again = await this.#asOf(kept.seq, [definition]);
      const { entries, difference } = await firstDifference(definition, this.store, again.store);
      return { report: { view: definition.name, seq: kept.seq, entries }, difference };
    });
  }

  async #asOf(seq: number, definitions: readonly ViewDefinition[]): Promise<Views> {
    const last = (await this.source.head()).seq;
    if (!isWhole(seq, -1) || seq > last) {
      throw new RepriseError('invalid_argument', 'there is no such frame', { expected: `0 to ${last}`, actual: seq });
    }
    const past = await Views.begin(upTo(this.source, seq), definitions, {});
    await past.catchUp();
    return past;
  }

  #keptOf(definition: ViewDefinition): StoredView {
    const kept = this.kept.get(definition.name);
    if (kept?.fold.digest === definition.digest) return kept;
    throw new RepriseError('invalid_argument', 'this view was not opened', {
      expected: [...this.kept.keys()].join(', '),
      actual: definition.name,
      hint: 'Pass its definition to openViews.',
    });
  }
}

/** The common part of every kept view. */
abstract class Standing {
  constructor(
    protected readonly kept: StoredView,
    protected readonly store: OpenViewStore,
    protected readonly keeper: Keeper,
  ) {}

  get seq(): number {
    return this.kept.seq;
  }

  get failure(): RepriseError | undefined {
    return this.kept.failure;
  }

  caughtUp(seq: number): Promise<void> {
    return this.keeper.caughtUp([this.kept], seq);
  }
}

class KeptProjection<Row> extends Standing implements View<Row> {
  constructor(
    private readonly definition: ProjectionDefinition<Row>,
    ...standing: ConstructorParameters<typeof Standing>
  ) {
    super(...standing);
  }

  async get(key: RowKey): Promise<Row | undefined> {
    const entry = joined(Uint8Array.of(PART.row), encodeKey(key));
    const bytes = await this.keeper.gate.alone(() => this.store.get(this.definition.name, entry));
    return bytes === undefined ? undefined : (decode(bytes) as Row);
  }

  query(query: ViewQuery = {}): Promise<ViewPage<Row>> {
    return this.keeper.gate.alone(async () => {
      const page = await readPage(this.store, this.definition, query);
      return { ...page, seq: this.kept.seq } as ViewPage<Row>;
    });
  }

  async *each(query: Omit<ViewQuery, 'after'> = {}): AsyncGenerator<ViewRow<Row>> {
    for (let after: string | undefined, more = true; more; ) {
      const page: ViewPage<Row> = await this.query(after === undefined ? query : { ...query, after });
      yield* page.rows;
      after = page.cursor;
      more = after !== undefined;
    }
  }
}

class KeptText extends Standing implements TextView {
  constructor(
    private readonly definition: TextIndexDefinition,
    ...standing: ConstructorParameters<typeof Standing>
  ) {
    super(...standing);
  }

  search(query: TextQuery): Promise<TextHits> {
    return this.keeper.gate.alone(async () => {
      const found = await searchText(this.store, this.definition, query);
      return { ...found, seq: this.kept.seq };
    });
  }
}

function foldOf(definition: ViewDefinition, { content }: FrameSource): Fold {
  return definition.type === 'projection' ? projectionFold(definition) : textFold(definition, content);
}

/** The frames of a source up to a given one. */
function upTo(source: FrameSource, seq: number): FrameSource {
  return {
    content: source.content,
    head: () => source.head(),
    frames: async function* (from, signal) {
      if (from > seq) return;
      for await (const frame of source.frames(from, signal)) {
        yield frame;
        if (frame.seq >= seq) return;
      }
    },
  };
}

function refuseMutants(definitions: readonly ViewDefinition[]): void {
  const names = new Set<string>();
  for (const { name } of definitions) {
    if (names.has(name)) {
      throw new RepriseError('duplicate_definition', `duplicate definition of the view ${name}`, {
        hint: 'Register each once; give a changed one a new version.',
      });
    }
    names.add(name);
  }
}

const VIEW_OPTIONS: KnownOptions<OpenViewsOptions> = { store: anObject, onFailed: aFunction };

function requireViewOptions(options: unknown, call: string): void {
  requireKnownOptions(options, VIEW_OPTIONS, call);
}

function requireDefinitions(definitions: unknown, call: string): void {
  const fits = Array.isArray(definitions) && definitions.every(isFields);
  requireArgument(fits, `${call}(definitions)`, 'a list of views, such as [usageView]', definitions);
}
