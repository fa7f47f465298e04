/**
 * A set of links in typed arrays: 16 bytes a slot, so that the links of a journal of any length fit beside its replay. A
 * set of strings took five times as much.
 */
import type { Ref } from '@reprise/contracts';

/** The words of a slot: 126 bits of the digest, and two for the kind. A free slot has zeros. */
const WORDS = 4;
const SLOTS_MIN = 1_024;

/** Digits of hex in a word. */
const DIGITS = 8;

/** Links that were met. Only ever grows. */
export class LinkSet {
  #slots = new Uint32Array(SLOTS_MIN * WORDS);
  #size = 0;
  readonly #key = new Uint32Array(WORDS);
  /** Where a link stands is not for the author of its content to choose: a file could crowd them all in one place. */
  readonly #salt = Uint32Array.from([Math.random() * 2 ** 32, Math.random() * 2 ** 32]);

  get size(): number {
    return this.#size;
  }

  /** Whether a link was added. */
  has(link: Pick<Ref, 'hex' | 'kind'>): boolean {
    return this.#slots[this.#placeOf(link)] !== 0;
  }

  /** Adds a link. @returns false when it was there before */
  add(link: Pick<Ref, 'hex' | 'kind'>): boolean {
    const at = this.#placeOf(link);
    if (this.#slots[at] !== 0) return false;
    this.#slots.set(this.#key, at);
    this.#size++;
    if (this.#size * WORDS * 4 > this.#slots.length * 3) this.#grow();
    return true;
  }

  /** Where a link stands or would stand; its key is then in `#key`. */
  #placeOf({ hex, kind }: Pick<Ref, 'hex' | 'kind'>): number {
    const key = this.#key;
    for (let word = 0; word < WORDS; word++) {
      key[word] = Number.parseInt(hex.slice(word * DIGITS, (word + 1) * DIGITS), 16);
    }
    key[0] = ((key[0] as number) & ~3) | (kind === 'value' ? 2 : 1);
    return place(this.#slots, key, this.#salt);
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * 2);
    for (let at = 0; at < this.#slots.length; at += WORDS) {
      if (this.#slots[at] === 0) continue;
      const key = this.#slots.subarray(at, at + WORDS);
      slots.set(key, place(slots, key, this.#salt));
    }
    this.#slots = slots;
  }
}

/** The slot of a key: its own, or the free one that it would take. */
function place(slots: Uint32Array, key: Uint32Array, salt: Uint32Array): number {
  const mixed =
    Math.imul(word(key, 1) ^ word(salt, 0), 0x9e3779b1) + Math.imul(word(key, 2) ^ word(salt, 1), 0x85ebca6b);
  const last = slots.length / WORDS - 1;
  for (let slot = (mixed ^ (mixed >>> 15)) & last; ; slot = (slot + 1) & last) {
    const at = slot * WORDS;
    if (slots[at] === 0) return at;
    if (slots[at] !== key[0] || slots[at + 1] !== key[1]) continue;
    if (slots[at + 2] === key[2] && slots[at + 3] === key[3]) return at;
  }
}

function word(words: Uint32Array, at: number): number {
  return words[at] as number;
}
