/** Things that begin, and have to end once. */

/** What is open, by kind and name; the same name may be open several times. */
export class Once {
  readonly #open = new Map<string, number>();
  readonly #counts = new Map<string, number>();

  /** How many began, by kind, and how many ended, by kind and how. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Whether one of this name is open. */
  isOpen(kind: string, name: string): boolean {
    return this.#open.has(keyOf(kind, name));
  }

  /** One begins. */
  begin(kind: string, name: string): void {
    const key = keyOf(kind, name);
    this.#open.set(key, (this.#open.get(key) ?? 0) + 1);
    this.#count(`${kind} accepted`);
  }

  /** One ends. @throws Error when none of this name is open */
  end(kind: string, name: string, how: string): void {
    const key = keyOf(kind, name);
    const open = this.#open.get(key) ?? 0;
    if (open === 0) throw new Error(`${key} has an end too many: ${how}`);
    if (open === 1) this.#open.delete(key);
    else this.#open.set(key, open - 1);
    this.#count(`${kind} ${how}`);
  }

  /** @throws Error when one is open whose kind and name begin like this */
  allEnded(kind: string, name = ''): void {
    const begin = keyOf(kind, name);
    for (const key of this.#open.keys()) if (key.startsWith(begin)) throw new Error(`${key} has no end`);
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}

function keyOf(kind: string, name: string): string {
  return `${kind} ${name}`;
}
