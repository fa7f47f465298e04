/** What a process that runs trees has to tell its user beside the tree: refused attempts, and what broke. */
import { escapeLine } from '../text/escape.js';

/** The most lines that are kept before the terminal hears them. */
const KEPT_MAX = 100;

/** Keeps lines for the user until the terminal hears them. */
export class Notices {
  readonly #kept: string[] = [];
  #hear: ((line: string) => void) | undefined;

  /** Adds a text. It may have words of programs, so it is escaped. */
  add(text: string): void {
    const line = escapeLine(text);
    if (this.#hear !== undefined) this.#hear(line);
    else if (this.#kept.length < KEPT_MAX) this.#kept.push(line);
  }

  /** Hears the lines from now on, and those that nobody has heard. */
  hear(hear: (line: string) => void): void {
    this.#hear = hear;
    for (const line of this.#kept.splice(0)) hear(line);
  }
}
