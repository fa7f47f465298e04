/** One running check: its position in the value, its findings, and its remaining budget. */
import { Budget, CHECK_DEPTH_MAX, NODE_STEPS, TooDeep } from './budget.js';

/** The maximum number of problems that one check names. */
const PROBLEMS_MAX = 20;

/** A problem of a value, and its place. */
export interface JsonProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The parts of a list or a map that its keywords have evaluated. */
export interface Evaluated {
  /** Keys, or the numbers of items. */
  readonly parts: Set<string | number>;
  all: boolean;
}

/** One rule of a schema. @returns whether the value fits it */
export type Rule = (value: unknown, run: CheckRun, seen: Evaluated) => boolean;

/** A schema compiled into its rules, which all must hold. */
export interface SchemaNode {
  readonly rules: Rule[];
  /** The address that it stands at: what dynamic references look for. */
  readonly base: string;
}

/** One check of a value: its budget, its place, and the problems found. */
export class CheckRun {
  readonly budget = new Budget();
  readonly path: (string | number)[] = [];
  readonly problems: JsonProblem[] = [];
  /** The addresses that were entered, the outermost first. */
  readonly bases: string[] = [];
  #depth = 0;
  #quiet = 0;

  /** Checks the value at the current position again. Evaluated parts are noted when it fits. */
  visit(node: SchemaNode, value: unknown, seen: Evaluated): boolean {
    this.budget.spend(NODE_STEPS);
    if (++this.#depth > CHECK_DEPTH_MAX) throw new TooDeep();
    const entered = this.bases.at(-1) !== node.base;
    if (entered) this.bases.push(node.base);
    const own = nothing();
    let fits = true;
    for (const rule of node.rules) {
      fits = rule(value, this, own) && fits;
      if (!fits && this.#quiet > 0) break;
    }
    if (entered) this.bases.pop();
    this.#depth--;
    if (fits) this.#note(own, seen);
    return fits;
  }

  /** Checks a part of the value. */
  enter(step: string | number, node: SchemaNode, value: unknown): boolean {
    this.path.push(step);
    const fits = this.visit(node, value, nothing());
    this.path.pop();
    return fits;
  }

  /** Evaluates a rule without naming problems. */
  quietly<T>(body: () => T): T {
    this.#quiet++;
    try {
      return body();
    } finally {
      this.#quiet--;
    }
  }

  /** Names a problem, and returns false. */
  problem(message: string, ...step: readonly (string | number)[]): false {
    if (this.#quiet === 0 && this.problems.length < PROBLEMS_MAX) {
      this.problems.push({ path: [...this.path, ...step], message });
    }
    return false;
  }

  #note(from: Evaluated, into: Evaluated): void {
    if (from.all) into.all = true;
    this.budget.spend(from.parts.size);
    for (const part of from.parts) into.parts.add(part);
  }
}

/** Nothing has been looked at yet. */
export function nothing(): Evaluated {
  return { parts: new Set(), all: false };
}
