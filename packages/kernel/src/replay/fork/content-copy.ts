/** Copies content along its links, so that a fork has the content that its own frames link and nothing newer. */
import { type Ref, RepriseError, type Value } from '@reprise/contracts';
import type { ContentReader, ContentStore } from '../../ports/content/port.js';
import { decode, linksOf } from '../../pure/codec/index.js';

/** Copies content from one store to another, each blob once. Erased content is not copied. */
export class ContentCopy {
  readonly #copied = new Set<string>();
  readonly #erased = new Map<string, number>();

  constructor(
    private readonly from: Pick<ContentReader, 'get' | 'erasedBy'>,
    private readonly into: ContentStore,
  ) {}

  /** Linked content that was erased, by digest: the frame of the original that erased it. */
  get erased(): ReadonlyMap<string, number> {
    return this.#erased;
  }

  /**
   * Copies the content that a value links, and the content that that content links.
   *
   * @param where the source of the links, for the error
   * @throws RepriseError `blob_missing`, and the errors of the stores
   */
  async linked(value: Value, where: string): Promise<void> {
    const open = linksOf(value);
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      const name = nameOf(ref.kind, ref.hex);
      if (this.#copied.has(name)) continue;
      this.#copied.add(name);
      const bytes = await this.#copy(ref, where);
      if (bytes !== undefined && ref.kind === 'value') open.push(...linksOf(decode(bytes)));
    }
  }

  /** Forgets content that was erased from the copy: a later link may restore it. */
  forget(digests: readonly string[]): void {
    for (const hex of digests) for (const kind of ['raw', 'value'] as const) this.#copied.delete(nameOf(kind, hex));
  }

  async #copy(ref: Ref, where: string): Promise<Uint8Array | undefined> {
    const bytes = await this.from.get(ref);
    if (bytes === undefined) return this.#requireErased(ref, where);
    await this.into.put(bytes);
    return bytes;
  }

  async #requireErased(ref: Ref, where: string): Promise<undefined> {
    const by = await this.from.erasedBy(ref);
    if (by === undefined) {
      throw new RepriseError('blob_missing', 'content that the journal links is not in the store', {
        where: `${where}, ${ref}`,
        hint: 'Restore the store from a copy that has it, and fork again.',
      });
    }
    this.#erased.set(ref.hex, by);
    return undefined;
  }
}

function nameOf(kind: Ref['kind'], hex: string): string {
  return `${kind}:${hex}`;
}
