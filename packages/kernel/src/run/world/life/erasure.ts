/**
 * Erases content for good, and leaves a tombstone in the journal.
 *
 * Invariants
 * X1  The tombstone is durable before a byte is erased: every erased byte is accounted for.
 * X2  Erasures come one after the other, and one begins only when the one before is finished. So only the newest can
 *     be unfinished, and opening finishes it.
 * X3  Content that the world itself is read from is never erased: the maps of its snapshots, the chunks of its logs.
 * X4  Replay reads no content, so decisions based on it stand and replay as before.
 */
import {
  type Address,
  ERASE_DIGESTS_MAX,
  formatAddress,
  type IngressOf,
  type Principal,
  Ref,
  RepriseError,
} from '@reprise/contracts';
import { linksIn } from '../../../ports/content/links.js';
import { logBlobs } from '../../../ports/content/log-reader.js';
import { readInputs } from '../../../ports/journal/frame.js';
import { requestKey } from '../../../ports/journal/request-key.js';
import type { OpenStore } from '../../../ports/store/store.js';
import type { Hash } from '../../../pure/codec/index.js';
import { cellKey, Refusal } from '../../../pure/engine/index.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import { CellContent } from '../read/cell-content.js';
import { earlierRequest, repetitionOf } from '../write/repetition.js';
import type { Stepper } from '../write/stepper.js';

/** The target of an erasure. */
export type EraseTarget =
  /** This content, whatever links it. */
  | { readonly refs: readonly Ref[] }
  /**
   * The content that only a cell, or with `subtree` only the cell and the cells below it, links. Content that a cell of
   * `passedBy` links as well is erased all the same: these cells passed it on, or read it, and do not keep it.
   */
  | { readonly cell: Address; readonly subtree?: boolean; readonly passedBy?: readonly Address[] };

/** The id, principal and reason of an erasure. */
interface EraseRequest {
  readonly id: string;
  readonly principal: Principal;
  readonly reason?: string;
}

/** The result of an erasure. */
export interface ErasureOutcome {
  readonly seq: number;
  readonly duplicate: boolean;
  /** The number of blobs that its tombstone names. */
  readonly erased: number;
  /** Content of the cell that other cells link as well, and that was therefore not erased. */
  readonly shared: readonly Ref[];
  /** Those other cells: of each shared content the first. */
  readonly keptBy: readonly Address[];
  /** Content of the cell that did not fit this tombstone: erase it with another request. */
  readonly remaining: number;
}

/** The content of a cell: its own, and what other cells keep. */
interface ToErase {
  readonly own: readonly Ref[];
  readonly shared: readonly Ref[];
  readonly keptBy: readonly Address[];
}

interface ErasureParts {
  readonly store: OpenStore;
  readonly table: LeafTable;
  readonly stepper: Stepper;
  readonly hash: Hash;
}

/** Finishes an erasure that a crash or a failing store left unfinished. */
export async function finishErasure({ journal, content }: Pick<OpenStore, 'journal' | 'content'>): Promise<void> {
  const last = await journal.findLast('erase', Number.MAX_SAFE_INTEGER);
  if (last === undefined || last.seq <= (await content.erasedThrough())) return;
  const { ingress } = readInputs(last.bytes, last.seq);
  if (ingress.kind === 'erase') await content.erase(refsOf(ingress.digests), last.seq);
}

/** Erases on behalf of an open world. */
export class Eraser {
  constructor(private readonly parts: ErasureParts) {}

  /**
   * Erases content.
   *
   * @throws RepriseError `blob_missing`, `erase_refused`, `bound_exceeded`, `request_conflict`, `cell_absent`;
   *   `store_failed` also when not all bytes could be erased: a repetition, or the next open, continues
   */
  async erase(target: EraseTarget, request: EraseRequest): Promise<ErasureOutcome> {
    const { stepper } = this.parts;
    if ('refs' in target) {
      const refs = uniqueRefs(target.refs);
      return stepper.exclusively(() => this.#commit(request, null, false, () => this.#named(refs)));
    }
    const { cell, subtree = false, passedBy = [] } = target;
    const cells = await stepper.exclusively(() => this.#cellsOf(cell, subtree));
    const search = new CellContent(this.parts.store.journal, this.parts.store.content, { cells, passing: passedBy });
    await search.readTo(stepper.head.seq); // the slow part: the world continues meanwhile
    return stepper.exclusively(() => this.#commit(request, cell, subtree, () => this.#owned(search)));
  }

  /** Between commits: nothing is journaled between the search, the tombstone and the erasing. */
  async #commit(
    { id, principal, reason }: EraseRequest,
    cell: Address | null,
    subtree: boolean,
    search: () => Promise<ToErase>,
  ): Promise<ErasureOutcome> {
    const { store, stepper } = this.parts;
    await finishErasure(store); // X2
    const { own, shared, keptBy } = await search();
    const digests = own.slice(0, ERASE_DIGESTS_MAX).map(({ hex }) => hex);
    const said = { id, principal, cell, subtree, digests, ...(reason === undefined ? {} : { reason }) };
    const earlier = await this.#earlier({ kind: 'erase', seq: 0, at: 0, ...said });
    if (earlier !== undefined) {
      const { seq, request } = earlier;
      return { seq, duplicate: true, erased: request.digests.length, shared, keptBy, remaining: own.length };
    }
    const { seq } = await stepper.commitAlone((stamps) => ({ kind: 'erase', ...stamps, ...said }));
    await store.content.erase(refsOf(digests), seq); // X1
    return { seq, duplicate: false, erased: digests.length, shared, keptBy, remaining: own.length - digests.length };
  }

  /** The frame of the same erasure, when it was requested before. */
  async #earlier(
    asked: IngressOf<'erase'>,
  ): Promise<{ readonly seq: number; readonly request: IngressOf<'erase'> } | undefined> {
    const { store, hash } = this.parts;
    const earlier = await earlierRequest(store.journal, requestKey(asked, hash), hash);
    if (earlier === undefined) return undefined;
    const { seq, request } = earlier;
    const answer = repetitionOf(earlier, asked);
    if (answer instanceof Refusal) throw new RepriseError(answer.code, answer.what, answer.facts);
    return request.kind === 'erase' ? { seq, request } : undefined; // an equal request is the same erasure
  }

  /** Named content: each of it is erased or refused. */
  async #named(refs: readonly Ref[]): Promise<ToErase> {
    const { content } = this.parts.store;
    for (const ref of refs) {
      if ((await content.has(ref)) || (await content.erasedBy(ref)) !== undefined) continue;
      throw new RepriseError('blob_missing', 'the content to erase is not in this store', {
        where: ref.toString(),
        hint: 'Nothing was erased. Check that the link belongs to this world.',
      });
    }
    const needed = await this.#needed(refs);
    for (const ref of refs) if (needed.has(ref.hex)) throw refused(ref);
    return { own: refs, shared: [], keptBy: [] };
  }

  /** Content of cells, without erased content and without what the world itself is read from. */
  async #owned(search: CellContent): Promise<ToErase> {
    const { content } = this.parts.store;
    await search.readTo(this.parts.stepper.head.seq);
    const { own, shared } = search.found;
    const keepers = new Map(shared.map(({ ref, keeper }) => [ref.hex, keeper]));
    const [present, kept] = [
      await presentOf(content, own),
      await presentOf(
        content,
        shared.map(({ ref }) => ref),
      ),
    ];
    const needed = await this.#needed([...present, ...kept]);
    const free = (refs: readonly Ref[]) => refs.filter(({ hex }) => !needed.has(hex));
    const left = free(kept);
    return { own: free(present), shared: left, keptBy: distinct(left.map(({ hex }) => keepers.get(hex))) };
  }

  /** A cell, and with `subtree` every cell below it. */
  async #cellsOf(cell: Address, subtree: boolean): Promise<readonly Address[]> {
    const { table } = this.parts;
    if ((await table.read(cellKey(cell))) === undefined)
      throw new RepriseError('cell_absent', `${formatAddress(cell)} does not exist`, {
        hint: 'Erase the content by its refs instead.',
      });
    if (!subtree) return [cell];
    const children = new Map<string, Address[]>();
    for await (const {
      key,
      leaf: { parent },
    } of table.all('cell')) {
      if (parent == null) continue; // the leaf of an ended cell may no longer name its parent
      const name = formatAddress(parent);
      children.set(name, [...(children.get(name) ?? []), [String(key.path[1]), String(key.path[2])]]);
    }
    const found = [cell];
    for (const one of found) found.push(...(children.get(formatAddress(one)) ?? []));
    return found;
  }

  /** X3: the blobs without which the world cannot be read; empty when none of the targets can be one. */
  async #needed(refs: readonly Ref[]): Promise<ReadonlySet<string>> {
    const { store, table } = this.parts;
    const needed = new Set<string>();
    if (!(await this.#anyValue(refs))) return needed;
    let snapshot = await store.journal.findLast('snapshot', Number.MAX_SAFE_INTEGER);
    while (snapshot !== undefined) {
      const { ingress } = readInputs(snapshot.bytes, snapshot.seq);
      if (ingress.kind === 'snapshot') await table.collectBlobs(ingress.root, needed);
      snapshot = await store.journal.findLast('snapshot', snapshot.seq - 1);
    }
    for await (const { leaf } of table.all('log')) {
      for await (const ref of logBlobs(store.content, leaf)) needed.add(ref.hex);
    }
    return needed;
  }

  /** Nodes and chunks are values. Texts, images and salted bytes are not: they spare most erasures the long walk. */
  async #anyValue(refs: readonly Ref[]): Promise<boolean> {
    for (const ref of refs) {
      const bytes = await this.parts.store.content.get(ref).catch(() => undefined); // damaged: it may be erased
      if (bytes !== undefined && linksIn(bytes) !== undefined) return true;
    }
    return false;
  }
}

function refused(ref: Ref): RepriseError {
  return new RepriseError('erase_refused', 'the content is part of the world itself', {
    where: ref.toString(),
    expected: 'content linked by events, receipts or log items',
    actual: 'a node of a snapshot, or a chunk of a log',
    hint: 'Nothing was erased. Erase the content that the log items link; states and logs themselves cannot be erased.',
  });
}

async function presentOf(content: OpenStore['content'], refs: readonly Ref[]): Promise<Ref[]> {
  const present: Ref[] = [];
  for (const ref of refs) if (await content.has(ref)) present.push(ref);
  return present;
}

/** Sorted by digest, so that the same request has the same bytes. */
function uniqueRefs(refs: readonly Ref[]): readonly Ref[] {
  const byHex = new Map(refs.map((ref) => [ref.hex, ref]));
  if (byHex.size > ERASE_DIGESTS_MAX) {
    throw new RepriseError('bound_exceeded', 'too much content for one tombstone', {
      expected: `at most ${ERASE_DIGESTS_MAX} refs`,
      actual: byHex.size,
      hint: 'Use several requests, each with its own id.',
    });
  }
  return [...byHex.values()].sort((a, b) => (a.hex < b.hex ? -1 : 1));
}

function distinct(cells: readonly (Address | undefined)[]): readonly Address[] {
  const byName = new Map(cells.flatMap((cell) => (cell === undefined ? [] : [[formatAddress(cell), cell] as const])));
  return [...byName.values()];
}

function refsOf(digests: readonly string[]): Ref[] {
  return digests.map((hex) => Ref.fromHex(hex));
}
