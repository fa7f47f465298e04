/**
 * A plain program that says what a store must do: items in a list, looked through from end to end. It shares no code with
 * the store.
 */

/** An item as the reference keeps it. */
export interface ReferenceItem {
  id: number;
  score: number;
  uses: number;
  revision: number;
  lastUsed: number;
  state: string;
  tags: readonly string[];
  expires: number | null;
  origin: Readonly<Record<string, number | string>>;
}

/** What an operation came to: what was written, or the code of the refusal. */
export type ReferenceOutcome = { readonly id: number; readonly existed: boolean } | { readonly code: string };

/** An operation as the reference reads it. */
export interface ReferenceOperation {
  readonly op: string;
  readonly id?: number;
  readonly ids?: readonly number[];
  readonly key?: string;
  readonly origin?: Readonly<Record<string, number | string>> | null;
  readonly tags?: readonly string[];
  readonly expires_at?: number | null;
  readonly supersedes?: number;
  readonly state?: string;
}

const PLACES = ['message', 'result', 'task', 'narrative', 'job', 'node'];

/** A store. */
export class ReferenceStore {
  readonly items: ReferenceItem[] = [];
  readonly #identities = new Map<string, number>();

  constructor(private readonly max: number) {}

  /** Does an operation, and archives what has to be. */
  operate(operation: ReferenceOperation, now: number): ReferenceOutcome | null {
    const outcome = this.#operate(operation, now);
    this.tidy(now);
    return outcome;
  }

  /** Archives what has expired, and what is beyond the bound. */
  tidy(now: number): void {
    for (const item of this.items) {
      if (item.state === 'live' && item.expires !== null && item.expires <= now) item.state = 'archived';
    }
    for (let live = this.#live(); live.length > this.max; live = this.#live()) {
      const [lowest] = live.sort((a, b) => a.score - b.score || a.lastUsed - b.lastUsed || a.id - b.id);
      if (lowest !== undefined) lowest.state = 'archived';
    }
  }

  #live(): ReferenceItem[] {
    return this.items.filter(({ state }) => state === 'live');
  }

  #operate(operation: ReferenceOperation, now: number): ReferenceOutcome | null {
    if (operation.op === 'store') return this.#store(operation, now);
    if (operation.op === 'read') {
      for (const id of new Set(operation.ids)) this.#use(this.items[id - 1], now);
      return null;
    }
    const item = this.items[(operation.id ?? 0) - 1];
    if (item === undefined) return { code: 'validation_error/item_unknown' };
    if (operation.op === 'update') {
      if (item.state === 'superseded') return { code: 'validation_error/item_gone' };
      item.revision++;
      if (operation.tags !== undefined) item.tags = operation.tags;
      if (operation.expires_at !== undefined) item.expires = operation.expires_at;
    } else if (operation.op === 'reinforce') {
      item.score = Math.min(20, item.score + 3);
      this.#use(item, now);
    } else if (operation.op === 'demote') item.score = Math.max(-10, item.score - 1);
    else item.state = operation.state ?? item.state;
    return { id: item.id, existed: false };
  }

  #use(item: ReferenceItem | undefined, now: number): void {
    if (item === undefined) return;
    item.uses++;
    item.lastUsed = now;
  }

  #store(operation: ReferenceOperation, now: number): ReferenceOutcome {
    const { origin, key, tags = [], expires_at = null, supersedes } = operation;
    if (origin == null || !PLACES.some((place) => place in origin)) return { code: 'validation_error/origin' };
    if (origin.cell !== 'law/Desk@1/desk') return { code: 'validation_error/origin' };
    const { result = '', task = '', node = '' } = origin;
    const identity = `${result}|${task}|${node}|${key}`;
    const known = this.#identities.get(identity);
    if (known !== undefined) return { id: known, existed: true };
    const replaced = supersedes === undefined ? undefined : this.items[supersedes - 1];
    if (supersedes !== undefined && replaced === undefined) return { code: 'validation_error/item_unknown' };
    const id = this.items.length + 1;
    this.#identities.set(identity, id);
    const fresh = { score: 0, uses: 0, revision: 1, lastUsed: now, state: 'live' };
    this.items.push({ id, ...fresh, tags: [...new Set(tags)], expires: expires_at, origin });
    if (replaced !== undefined) replaced.state = 'superseded';
    return { id, existed: false };
  }
}

/** e to the power of score/10, computed with integers of any size: the sum of the first terms of its series. */
export function exponentialQ16(score: number): number {
  const ONE = 10n ** 40n;
  let [sum, term] = [ONE, ONE];
  for (let n = 1n; n < 80n; n++) {
    term = (term * BigInt(Math.abs(score))) / (10n * n);
    sum += term;
  }
  const value = score < 0 ? (ONE * ONE) / sum : sum;
  return Number((value * 65_536n) / ONE);
}

/** The rank of an item, in integers of any size. */
export function referenceRank(text: number, item: Pick<ReferenceItem, 'score' | 'lastUsed'>, now: number): number {
  const weighed = (BigInt(text) * BigInt(exponentialQ16(item.score))) / 65_536n;
  const days = BigInt(Math.max(0, Math.floor((now - item.lastUsed) / 86_400_000)));
  return Number((weighed * 100n) / (100n + days));
}
