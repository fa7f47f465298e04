import { requireCallable, requireFields, requireMethods } from '@reprise/contracts';
/**
 * The common part of the port suites. A suite is a list of named checks, each a plain async function that throws when
 * the port breaks its contract, so a check runs under any test runner, and alone against a mutant.
 */

/** One rule of a port's contract. */
export interface Check<Subject> {
  /** The rule in words; a waiver names the rule by it. */
  readonly name: string;
  /** The name and the clauses of the specification that the rule checks: the title that a runner shows. */
  readonly title: string;
  /** Throws when the subject breaks the rule. */
  readonly run: (subject: Subject) => Promise<void>;
}

/** The rules that an implementation breaks, with the reasons. A waived rule that is met after all fails the run. */
export interface Waiver {
  readonly reason: string;
  /** The names of the rules that are broken. */
  readonly tests: readonly string[];
}

/**
 * The two functions of a test runner that a suite needs; those of vitest, Jest and `node:test` fit. A runner that
 * passes an object with `skip(why)` to its tests is informed through it which checks are not applicable.
 */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: (...given: unknown[]) => Promise<void>): unknown;
}

/**
 * A check that does not apply to this subject, with the reason: it lacks an ability, or never does what the rule is
 * about. Under a runner that can skip from inside a test it is skipped, with the reason; under any other it fails until
 * it is waived. It never counts as met.
 */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}

/** The input of every suite. */
export interface SuiteOptions<Subject> {
  /** The name of the implementation, for the titles. */
  readonly name: string;
  /** Makes a fresh subject, in its own place, for each check. */
  readonly make: () => Promise<Subject>;
  /** The runner to register with: `{ describe, it }`. */
  readonly runner: TestRunner;
  readonly skip?: readonly Waiver[];
}

/** A subject that may have something to clean up. */
export interface Disposable {
  dispose?(): Promise<void>;
}

/** The name and the title of a rule, from a title that may end with clauses: `given a close, … [JRN-4]`. */
export function titled(title: string): Pick<Check<unknown>, 'name' | 'title'> {
  return { name: title.replace(/ \[[A-Z]+-\d+(?:, [A-Z]+-\d+)*\]$/, ''), title };
}

/** Registers checks with a runner. */
export function registerSuite<Subject extends Disposable>(
  port: string,
  checks: readonly Check<Subject>[],
  options: SuiteOptions<Subject>,
): void {
  const call = `the ${port} suite`;
  requireFields(options, `${call}(options)`, 'an object with runner, name and make');
  requireMethods(options.runner, ['describe', 'it'], `${call}(options.runner)`, 'describe and it of a test runner');
  requireCallable(options.make, call, 'options.make');
  const { runner, make, skip = [] } = options;
  const unknown = skip.flatMap((waiver) => waiver.tests).filter((test) => !checks.some((check) => check.name === test));
  if (unknown.length > 0) throw new TypeError(`waivers name no check of the ${port} suite: ${unknown.join('; ')}`);
  runner.describe(`${port}: ${options.name}`, () => {
    for (const check of checks) {
      const waiver = skip.find(({ tests }) => tests.includes(check.name));
      if (waiver === undefined) runner.it(check.title, (...given) => runOrSkip(check, make, given[0]));
      else runner.it(`${check.title} (waived: ${waiver.reason})`, () => expectFailure(check, make));
    }
  });
}

/** Runs one check against a fresh subject. */
export async function runCheck<Subject extends Disposable>(
  check: Check<Subject>,
  make: () => Promise<Subject>,
): Promise<void> {
  requireMethods(check, ['run'], 'runCheck(check)', 'a check, such as one of storeChecks');
  requireCallable(make, 'runCheck', 'make');
  const subject = await make();
  try {
    await check.run(subject);
  } finally {
    await subject.dispose?.();
  }
}

async function runOrSkip<Subject extends Disposable>(
  check: Check<Subject>,
  make: () => Promise<Subject>,
  context: unknown,
): Promise<void> {
  try {
    await runCheck(check, make);
  } catch (error) {
    if (!(error instanceof NotApplicable) || !canSkip(context)) throw error;
    context.skip(`not applicable: ${error.message}`);
  }
}

function canSkip(context: unknown): context is { skip(why: string): unknown } {
  return typeof (context as { readonly skip?: unknown } | undefined)?.skip === 'function';
}

async function expectFailure<Subject extends Disposable>(
  check: Check<Subject>,
  make: () => Promise<Subject>,
): Promise<void> {
  try {
    await runCheck(check, make);
  } catch {
    return;
  }
  throw new Error(`the waiver of "${check.name}" is stale: the rule is met. Remove the waiver.`);
}
