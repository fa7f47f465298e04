/**
 * Regular expressions in linear time: a pattern becomes an automaton, and all of its states are followed at once through
 * the text. So a match takes at most states × length steps, whatever the pattern, and each step is counted.
 *
 * A look-ahead or look-behind is an automaton of its own, run once over the whole text in the direction in which it
 * finds for every position whether it holds there; the surrounding automaton reads the result.
 */
import type { Budget } from './budget.js';
import { type CodeSet, holds, isWord } from './code-set.js';
import { type Edge, type PatternNode, PatternRefused, type Properties, readPattern } from './pattern-syntax.js';

/** The most states of one pattern: counted repetitions are written out, `a{1000}` has a thousand. */
export const PATTERN_STATES_MAX = 20_000;

type State =
  | { readonly op: 'set'; readonly set: CodeSet }
  | { readonly op: 'fork'; readonly to: number[] }
  | { readonly op: 'edge'; readonly at: Edge }
  | { readonly op: 'look'; readonly look: number; readonly negative: boolean }
  | { readonly op: 'match' };

/** An automaton: but for forks, the state behind one is the next in the list. */
interface Automaton {
  readonly states: readonly State[];
  readonly backward: boolean;
}

/** A pattern that can be matched. */
export interface LinearPattern {
  /** How many states it has. */
  readonly states: number;
  /** Whether some part of a text matches. @throws OutOfSteps */
  matches(text: string, budget: Budget): boolean;
}

/**
 * Reads a pattern.
 *
 * @returns the pattern, or why it is refused
 */
export function linearPattern(source: string, properties: Properties = () => undefined): LinearPattern | string {
  try {
    const writer = new Writer();
    const main = writer.automaton(readPattern(source, properties), false);
    const { looks } = writer;
    return {
      states: writer.count,
      matches: (text, budget) => {
        const codes = codePoints(text, budget);
        const tables: Uint8Array[] = [];
        for (const look of looks) tables.push(run(look, { codes, tables, budget }, 'everywhere'));
        return run(main, { codes, tables, budget }, 'anywhere')[0] === 1;
      },
    };
  } catch (error) {
    if (error instanceof PatternRefused) return error.message;
    throw error;
  }
}

/** Writes automata; look-around automata come before those that use them. */
class Writer {
  readonly looks: Automaton[] = [];
  count = 0;

  automaton(node: PatternNode, backward: boolean): Automaton {
    const states: State[] = [];
    this.#write(node, states, backward);
    this.#add(states, { op: 'match' });
    return { states, backward };
  }

  #write(node: PatternNode, states: State[], backward: boolean): void {
    if (node.type === 'sequence' || node.type === 'repeat') this.#counted(); // `(){9999}{9999}` has no states of its own
    switch (node.type) {
      case 'set':
        this.#add(states, { op: 'set', set: node.set });
        return;
      case 'edge':
        this.#add(states, { op: 'edge', at: node.at });
        return;
      case 'sequence':
        for (const part of backward ? node.parts.toReversed() : node.parts) this.#write(part, states, backward);
        return;
      case 'choice':
        this.#choice(node.branches, states, backward);
        return;
      case 'repeat':
        this.#repeat(node, states, backward);
        return;
      case 'look': {
        const look = this.automaton(node.node, !node.behind);
        this.looks.push(look);
        this.#add(states, { op: 'look', look: this.looks.length - 1, negative: node.negative });
        return;
      }
    }
  }

  #choice(branches: readonly PatternNode[], states: State[], backward: boolean): void {
    const entry: number[] = [];
    this.#add(states, { op: 'fork', to: entry });
    const exits: number[][] = [];
    for (const branch of branches) {
      entry.push(states.length);
      this.#write(branch, states, backward);
      const exit: number[] = [];
      this.#add(states, { op: 'fork', to: exit });
      exits.push(exit);
    }
    for (const exit of exits) exit.push(states.length);
  }

  #repeat({ node, min, max }: Extract<PatternNode, { type: 'repeat' }>, states: State[], backward: boolean): void {
    for (let n = 0; n < min; n++) this.#write(node, states, backward);
    if (max === Number.POSITIVE_INFINITY) {
      const entry: number[] = [];
      const start = this.#add(states, { op: 'fork', to: entry });
      entry.push(states.length);
      this.#write(node, states, backward);
      this.#add(states, { op: 'fork', to: [start] });
      entry.push(states.length);
      return;
    }
    const skips: number[][] = [];
    for (let n = min; n < max; n++) {
      const entry: number[] = [];
      this.#add(states, { op: 'fork', to: entry });
      entry.push(states.length);
      skips.push(entry);
      this.#write(node, states, backward);
    }
    for (const entry of skips) entry.push(states.length);
  }

  #add(states: State[], state: State): number {
    this.#counted();
    return states.push(state) - 1;
  }

  #counted(): void {
    if (++this.count > PATTERN_STATES_MAX) throw new PatternRefused(`it needs more than ${PATTERN_STATES_MAX} states`);
  }
}

interface Running {
  readonly codes: Uint32Array;
  readonly tables: readonly Uint8Array[];
  readonly budget: Budget;
}

/**
 * Follows all states through a text.
 *
 * @returns for `anywhere` whether some part matches, as one byte; for `everywhere` of each place whether a part that
 *   ends there (that begins there, of one that runs backward) matches
 */
function run(automaton: Automaton, running: Running, want: 'anywhere' | 'everywhere'): Uint8Array {
  const { states, backward } = automaton;
  const { codes, budget } = running;
  const length = codes.length;
  const found = new Uint8Array(want === 'anywhere' ? 1 : length + 1);
  const reach = new Reach(states, running);
  let active: number[] = [];
  for (let n = 0; n <= length; n++) {
    const place = backward ? length - n : n;
    if (n > 0) {
      const code = codes[backward ? place : place - 1] ?? 0;
      const last = active;
      active = reach.begin();
      for (const at of last) {
        const state = states[at];
        if (state?.op === 'set' && holds(state.set, code)) reach.add(at + 1, place);
      }
    } else active = reach.begin();
    if (reach.add(0, place)) {
      if (want === 'anywhere') return found.fill(1);
      found[place] = 1;
    }
    budget.spend(active.length + 1);
  }
  return found;
}

/** The states that are reached at one place without reading on. */
class Reach {
  /** Per state the number of the place at which it was reached last. */
  readonly #seen: Uint32Array;
  #round = 0;
  #waiting: number[] = [];
  matched = false;

  constructor(
    private readonly states: readonly State[],
    private readonly running: Running,
  ) {
    this.#seen = new Uint32Array(states.length + 1);
  }

  /** Begins another place. @returns the list that its reading states are put into */
  begin(): number[] {
    this.#round++;
    this.#waiting = [];
    this.matched = false;
    return this.#waiting;
  }

  /** Adds a state and all states reachable without reading. @returns whether the pattern matched */
  add(state: number, place: number): boolean {
    const stack = [state];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (this.#seen[at] === this.#round) continue;
      this.#seen[at] = this.#round;
      this.running.budget.spend(1);
      const one = this.states[at];
      if (one === undefined) continue;
      if (one.op === 'set') this.#waiting.push(at);
      else if (one.op === 'match') this.matched = true;
      else if (one.op === 'fork') stack.push(...one.to);
      else if (this.#holds(one, place)) stack.push(at + 1);
    }
    return this.matched;
  }

  #holds(state: Extract<State, { op: 'edge' | 'look' }>, place: number): boolean {
    const { codes, tables } = this.running;
    if (state.op === 'look') return (tables[state.look]?.[place] === 1) !== state.negative;
    if (state.at === 'start') return place === 0;
    if (state.at === 'end') return place === codes.length;
    const isEdge = isWord(place === 0 ? undefined : codes[place - 1]) !== isWord(codes[place]);
    return isEdge === (state.at === 'word');
  }
}

function codePoints(text: string, budget: Budget): Uint32Array {
  budget.spend(text.length);
  const codes = new Uint32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code > 0xffff) at++;
    codes[length++] = code;
  }
  return codes.subarray(0, length);
}
