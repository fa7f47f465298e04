/**
 * Checks values against a JSON Schema from outside: from a server, a file, a recorded definition.
 *
 * Owns: the promises of the checker. Does not own: schemas of the program itself, which their library checks, and those of
 * journaled data, which are a closed language (`../schema/index.ts`).
 *
 * Invariants
 * C1  Pure: the same schema and value give the same verdict on every engine, in every process.
 * C2  No foreign regular expression is passed to an engine that backtracks, neither of `pattern`, `patternProperties` nor
 *     `format`.
 * C3  Whatever the schema, reading it and checking by it take bounded memory and a bounded number of steps. Exceeding
 *     a bound is a verdict, never an exception and never a wait.
 * C4  Nothing is fetched: a reference points to a part of the schema, or the schema is refused.
 */
import { CHECK_DEPTH_MAX, CHECK_STEPS_MAX, OutOfSteps, TooDeep } from './budget.js';
import { CheckRun, type JsonProblem, nothing } from './check-run.js';
import { Compiler } from './compile.js';
import type { Properties } from './pattern-syntax.js';
import { Resources, SchemaRefused } from './resources.js';

/** The verdict on a value. */
type JsonVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly problems: readonly JsonProblem[];
      /** Set when the check itself was given up: then it is unknown whether the value fits. */
      readonly givenUp?: 'steps' | 'depth';
    };

/** Checks values by one schema. */
export interface JsonChecker {
  readonly ok: true;
  readonly check: (value: unknown) => JsonVerdict;
}

/** A schema that cannot be used, with the reason. */
export interface RefusedSchema {
  readonly ok: false;
  /** The place in it, as a JSON pointer. */
  readonly where: string;
  readonly why: string;
}

interface CheckerOptions {
  /**
   * Returns the code points of a Unicode property, for patterns with `\p{…}`; such a pattern is refused when absent, since
   * engines know different versions of Unicode.
   */
  readonly properties?: Properties;
}

/**
 * Makes a checker of a JSON Schema.
 *
 * @returns the checker, or the reason why the schema is refused: it is malformed, too large, refers to something outside,
 *   or has a pattern that cannot be matched in linear time
 * @example
 * const found = checker({ type: 'object', required: ['ok'] })
 * if (found.ok) found.check({}) // { ok: false, problems: [{ path: ['ok'], message: 'is missing' }] }
 */
export function checker(schema: unknown, options: CheckerOptions = {}): JsonChecker | RefusedSchema {
  try {
    const resources = new Resources(schema);
    const root = new Compiler(resources, options.properties ?? (() => undefined)).whole();
    return { ok: true, check: (value) => verdict((run) => run.visit(root, value, nothing())) };
  } catch (error) {
    if (error instanceof SchemaRefused) return { ok: false, where: error.where, why: error.message };
    throw error;
  }
}

function verdict(visit: (run: CheckRun) => boolean): JsonVerdict {
  const run = new CheckRun();
  try {
    return visit(run) ? { ok: true } : { ok: false, problems: run.problems };
  } catch (error) {
    if (error instanceof OutOfSteps) {
      return givenUp('steps', `the check takes more than ${CHECK_STEPS_MAX} steps`);
    }
    if (error instanceof TooDeep) return givenUp('depth', `the check goes deeper than ${CHECK_DEPTH_MAX}`);
    throw error;
  }
}

function givenUp(why: 'steps' | 'depth', message: string): JsonVerdict {
  return { ok: false, problems: [{ path: [], message }], givenUp: why };
}
