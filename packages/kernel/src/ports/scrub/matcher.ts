/**
 * Finds any of many patterns in one pass: an automaton after Aho and Corasick, over 16-bit units. ASCII letters count as
 * the same in both cases, since servers echo headers in lower case. Line breaks within a pattern are passed over, since
 * programs wrap base64 and long texts.
 */

const UNITS = 0x1_0000;

/** The most line breaks in a row that may interrupt a pattern: an empty line, in any encoding of line breaks. */
const BREAKS_MAX = 4;

/** Called at each place where a pattern ends, with the longest one that ends there. */
type Found = (from: number, to: number) => void;

/** Finds all patterns in one pass over code units or bytes, by an automaton. */
export class Matcher {
  /** Follows a unit out of a state: `state * UNITS + unit` to the next state. */
  readonly #next = new Map<number, number>();
  /** Units that a pattern begins with: most units of most texts are skipped by this alone. */
  readonly #first = new Uint8Array(UNITS);
  readonly #fail: number[] = [0];
  readonly #depth: number[] = [0];
  readonly #longest: number[] = [0];
  readonly #leads: boolean[] = [false];

  constructor(patterns: Iterable<string>) {
    for (const pattern of patterns) if (pattern !== '') this.#add(pattern);
    this.#link();
  }

  /**
   * Looks through units.
   *
   * @returns how many of the last units may be the beginning of a pattern that continues in the next text
   */
  scan(units: Uint8Array | Uint16Array, found: Found): number {
    let state = 0;
    let breaks = 0;
    for (let at = 0; at < units.length; at++) {
      const unit = folded(units[at] ?? 0);
      if (state === 0 && this.#first[unit] === 0) continue;
      breaks = isBreak(unit) ? breaks + 1 : 0;
      if (breaks > BREAKS_MAX) state = 0;
      if (breaks > 0) continue;
      state = this.#step(state, unit);
      const length = this.#longest[state] ?? 0;
      if (length > 0) found(startOf(units, at + 1, length), at + 1);
    }
    while (state !== 0 && this.#leads[state] !== true) state = this.#fail[state] ?? 0;
    return units.length - startOf(units, units.length, this.#depth[state] ?? 0);
  }

  #step(from: number, unit: number): number {
    for (let state = from; ; state = this.#fail[state] ?? 0) {
      const next = this.#next.get(state * UNITS + unit);
      if (next !== undefined) return next;
      if (state === 0) return 0;
    }
  }

  #add(given: string): void {
    const pattern = given.replace(/[\r\n]/g, '');
    let state = 0;
    for (let i = 0; i < pattern.length; i++) {
      const unit = folded(pattern.charCodeAt(i));
      if (i === 0) this.#first[unit] = 1;
      let next = this.#next.get(state * UNITS + unit);
      if (next === undefined) {
        next = this.#depth.push(i + 1) - 1;
        this.#longest.push(0);
        this.#fail.push(0);
        this.#leads.push(false);
        this.#next.set(state * UNITS + unit, next);
        this.#leads[state] = true;
      }
      state = next;
    }
    if (state !== 0) this.#longest[state] = pattern.length;
  }

  /** States were created pattern by pattern, not by depth: links are computed level by level. */
  #link(): void {
    const levels: [state: number, unit: number, next: number][][] = [];
    for (const [key, next] of this.#next) {
      const state = Math.floor(key / UNITS);
      const level = this.#depth[state] ?? 0;
      levels[level] ??= [];
      levels[level].push([state, key % UNITS, next]);
    }
    for (const edges of levels) {
      for (const [state, unit, next] of edges) {
        const fail = state === 0 ? 0 : this.#step(this.#fail[state] ?? 0, unit);
        this.#fail[next] = fail;
        if (this.#longest[next] === 0) this.#longest[next] = this.#longest[fail] ?? 0;
      }
    }
  }
}

function isBreak(unit: number): boolean {
  return unit === 10 || unit === 13;
}

/** Where the last units before `end` begin, line breaks not counted. */
function startOf(units: Uint8Array | Uint16Array, end: number, length: number): number {
  let at = end;
  for (let left = length; left > 0 && at > 0; at--) if (!isBreak(units[at - 1] ?? 0)) left -= 1;
  return length === 0 ? end : at;
}

function folded(unit: number): number {
  return unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
}
