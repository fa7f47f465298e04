/** A world of few texts, in which what a pattern means is a set that can be written out. */

/** All texts of some letters, up to a length. */
export function textsOf(letters: readonly string[], length: number): string[] {
  const texts = [''];
  let longest = [''];
  for (let n = 0; n < length; n++) {
    longest = longest.flatMap((text) => letters.map((letter) => text + letter));
    texts.push(...longest);
  }
  return texts;
}

/** All patterns whose text before a star has some letters, up to a length. */
export function patternsOf(letters: readonly string[], length: number): string[] {
  const stems = textsOf(letters, length);
  return [...stems.filter((stem) => stem !== ''), ...stems.map((stem) => `${stem}*`)];
}

/** All sets of up to so many patterns, as lists. */
export function setsOf(patterns: readonly string[], size: number): string[][] {
  if (size === 0) return [[]];
  const smaller = setsOf(patterns, size - 1);
  const place = (list: readonly string[]) => (list.length === 0 ? -1 : patterns.indexOf(list.at(-1) as string));
  const full = smaller.filter((list) => list.length === size - 1);
  return [...smaller, ...full.flatMap((list) => patterns.slice(place(list) + 1).map((next) => [...list, next]))];
}

/** What lists of patterns mean among some texts: a set of them, one bit each. Written without the code it judges. */
export class Meaning {
  readonly #known = new Map<string, bigint>();

  constructor(readonly texts: readonly string[]) {}

  /** All texts. */
  get everything(): bigint {
    return (1n << BigInt(this.texts.length)) - 1n;
  }

  /** The texts that any of the patterns matches. */
  of(patterns: readonly string[]): bigint {
    return patterns.reduce((set, pattern) => set | this.#ofOne(pattern), 0n);
  }

  #ofOne(pattern: string): bigint {
    const known = this.#known.get(pattern);
    if (known !== undefined) return known;
    const escaped = pattern.replaceAll(/[.()[\]{}+?^$|\\]/g, '\\$&').replace(/\*$/, '.*');
    const like = new RegExp(`^${escaped}$`);
    const set = this.texts.reduce((bits, text, i) => (like.test(text) ? bits | (1n << BigInt(i)) : bits), 0n);
    this.#known.set(pattern, set);
    return set;
  }
}
