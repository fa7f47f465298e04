/** What an operation changes in a store. */
import { encode } from '@reprise/kernel/codec';
import { Refused } from '../kit/refusal.js';
import type { WriteOperation, Written } from './effects.js';
import { type ItemOrigin, type MemoryItem, placesOf } from './item.js';
import type { Items } from './items.js';
import { DEMOTED_BY, ITEM_BYTES_MAX, REINFORCED_BY, SCORE_MAX, SCORE_MIN } from './names.js';

/** The cell that writes, or people. */
interface Writer {
  /** Its formatted address, or `people`. */
  readonly author: string;
  /** Whether a person or the app writes: their items are not bound to one organization. */
  readonly isPeople: boolean;
}

/**
 * Changes a store.
 *
 * @throws Refused with the reason, before anything was changed
 */
export function write(items: Items, operation: WriteOperation, writer: Writer): Written {
  if (operation.op === 'store') return add(items, operation, writer);
  const { id } = operation;
  const item = items.get(id) ?? refuse('item_unknown');
  switch (operation.op) {
    case 'update':
      return update(items, item, operation);
    case 'reinforce':
      return scored(items, id, item, {
        score: item.score + REINFORCED_BY,
        uses: item.uses + 1,
        last_used_at: items.now,
      });
    case 'demote':
      return scored(items, id, item, { score: item.score - DEMOTED_BY });
    default:
      items.move(id, operation.state);
      return changed(id, item);
  }
}

type Storing = Extract<WriteOperation, { op: 'store' }>;

function add(items: Items, operation: Storing, { author, isPeople }: Writer): Written {
  const { origin, key, supersedes } = operation;
  if (origin === null || placesOf(origin).length === 0) throw new Refused('origin');
  if (!isPeople && origin.cell !== author) throw new Refused('origin');
  const identity = identityOf(author, origin, key);
  const known = items.known(identity);
  if (known !== undefined) return { ...changed(known, items.get(known) ?? refuse('item_unknown')), existed: true };
  if (supersedes !== undefined && items.get(supersedes) === undefined) throw new Refused('item_unknown');
  const item = itemOf(operation, origin, author, items.now);
  requireSmall(item);
  const id = items.add(identity, item);
  if (supersedes !== undefined) items.move(supersedes, 'superseded');
  return changed(id, item);
}

/** store/M3: the message and the narrative of a run are left out, so that a later run stores the same item. */
function identityOf(author: string, { cell, result, task, node }: ItemOrigin, key: string): string {
  return JSON.stringify([author, cell, result ?? null, task ?? null, node ?? null, key]);
}

function itemOf(operation: Storing, origin: ItemOrigin, author: string, now: number): MemoryItem {
  const { content_ref, summary_ref, tags, type = 'note', trust = 'curated' } = operation;
  const { confidence_ppm = null, subject_key = null, memory_of_refs = [], expires_at = null } = operation;
  return {
    content_ref,
    summary_ref,
    tags: [...new Set(tags)],
    type,
    author,
    score: 0,
    uses: 0,
    revision: 1,
    created_at: now,
    last_used_at: now,
    trust,
    state: 'live',
    confidence_ppm,
    subject_key,
    origin,
    memory_of_refs,
    expires_at,
  };
}

function update(items: Items, item: MemoryItem, operation: Extract<WriteOperation, { op: 'update' }>): Written {
  const { op: _, id, ...change } = operation;
  if (item.state === 'superseded') throw new Refused('item_gone');
  const next = { ...item, ...change, revision: item.revision + 1 };
  requireSmall(next);
  items.put(id, item, next);
  return changed(id, next);
}

function scored(
  items: Items,
  id: number,
  item: MemoryItem,
  change: Pick<MemoryItem, 'score'> & Partial<MemoryItem>,
): Written {
  const next = { ...item, ...change, score: Math.min(SCORE_MAX, Math.max(SCORE_MIN, change.score)) };
  items.score(id, item, next);
  return changed(id, next);
}

function changed(id: number, { score, revision }: MemoryItem): Written {
  return { id, existed: false, score, revision };
}

function requireSmall(item: MemoryItem): void {
  if (encode({ ...item }).length > ITEM_BYTES_MAX) throw new Refused('item_too_large');
}

function refuse(reason: string): never {
  throw new Refused(reason);
}
