/**
 * Posts the troubles of an open world beside its journal, for the commands of another process. No byte of the journal
 * depends on it, and nothing waits for it: where it cannot be written, `onError` has said the same.
 */
import { parseOwnJson } from '@reprise/contracts';
import type { OpenStore, ReadonlyStore, StoreStatus } from '../../../ports/store/store.js';
import { macrotask } from '../../../ports/time/turn.js';
import type { HostTrouble } from '../../../state/trouble.js';

/** The most characters of a post: it may have to fit on a disk that is almost full. */
const POST_CHARS_MAX = 64 * 1024;

/** The collaborators of a post. */
interface StatusPostParts {
  readonly post: NonNullable<OpenStore['post']>;
  troubles(): readonly HostTrouble[];
}

/** Keeps the post of a world up to date. */
export class StatusPost {
  #posted: string | undefined;
  #isStale = false;
  #isPosting = false;

  constructor(private readonly parts: StatusPostParts) {}

  /** The list of troubles may be another one now. */
  changed(): void {
    this.#isStale = true;
    if (!this.#isPosting) void this.#catchUp();
  }

  /** One post at a time; what changes meanwhile is in the next one. */
  async #catchUp(): Promise<void> {
    this.#isPosting = true;
    while (this.#isStale) {
      await macrotask(); // what changes together is posted once
      this.#isStale = false;
      await this.#post();
    }
    this.#isPosting = false;
  }

  async #post(): Promise<void> {
    const troubles = this.parts.troubles();
    const text = troubles.length === 0 ? undefined : textOf(troubles);
    if (text === this.#posted) return;
    this.#posted = text;
    await this.parts.post(text ?? null).catch(() => undefined); // a full disk, perhaps; the store has closed, perhaps
  }
}

/** As many troubles as fit. */
function textOf(troubles: readonly HostTrouble[]): string {
  for (let count = troubles.length; ; count = Math.floor(count / 2)) {
    const text = JSON.stringify(troubles.slice(0, count));
    if (text.length <= POST_CHARS_MAX || count <= 1) return text;
  }
}

/** What an operator can learn of a world in another process, without opening it. */
export interface PostedTroubles {
  /** Who has the world open. */
  readonly writer: StoreStatus['writer'];
  /** The troubles of that process, but for the failed cells, which stand in the journal. */
  readonly troubles: readonly HostTrouble[];
}

/**
 * Reads the troubles that another process posted: of its store, its clock, and the services outside. Failed cells stand in
 * the journal: see `worldAt(…).trouble()`.
 *
 * @example const { troubles } = await postedTroubles(await sqlite('world.db').openReadonly())
 */
export async function postedTroubles(store: Pick<ReadonlyStore, 'status'>): Promise<PostedTroubles> {
  const { writer, posted } = (await store.status?.()) ?? { writer: 'unknown' };
  return { writer, troubles: posted === undefined ? [] : troublesIn(posted) };
}

const KINDS: Readonly<Record<HostTrouble['kind'], true>> = {
  world_ended: true,
  store_full: true,
  store_slow: true,
  clock_jump: true,
  service_failing: true,
};

/** The troubles in a post. A post of another version, or one that is half written, counts as far as it is understood. */
function troublesIn(text: string): readonly HostTrouble[] {
  const posted = parsed(text);
  return Array.isArray(posted) ? posted.filter(isHostTrouble) : [];
}

function parsed(text: string): unknown {
  try {
    return parseOwnJson(text);
  } catch {
    return undefined;
  }
}

function isHostTrouble(thing: unknown): thing is HostTrouble {
  if (typeof thing !== 'object' || thing === null) return false;
  const { kind, where, code, since, waiting, cells } = thing as { readonly [name: string]: unknown };
  if (typeof kind !== 'string' || !Object.hasOwn(KINDS, kind)) return false;
  const isWhole = typeof where === 'string' && typeof code === 'string' && Number.isFinite(since);
  if (!isWhole || !Number.isFinite(waiting)) return false;
  return kind !== 'service_failing' || (Array.isArray(cells) && cells.every(isAddress));
}

function isAddress(thing: unknown): boolean {
  return Array.isArray(thing) && thing.length === 2 && thing.every((part) => typeof part === 'string');
}
