/**
 * Tests under mutants, from the side that watches: one worker at a time, asked mutant by mutant.
 *
 * Invariants
 * T1  A silent test counts as a timeout, and its worker is ended: the limit is measured on the unchanged sources, with
 *     room for a busy machine.
 * T2  Tests that fail or are too slow on the unchanged sources judge nothing.
 * T3  Tests that found mutants nearby are tried first, then the shortest. Where the budget for a mutant ends before the
 *     tests do, "survived" means: these. A score is then a lower bound.
 * T4  What is made once, for the first test that needs it, is reached by no other: a mutant that few tests reach is
 *     judged by all tests of their files.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { ROOT } from './bundle.js';
import type { Ask, Reach, Told } from './worker.js';

/** The verdict on a mutant. */
export type Verdict = 'killed' | 'timeout' | 'survived' | 'no coverage';

/** A verdict, and the test that gave it. */
export interface Judged {
  readonly verdict: Verdict;
  readonly by?: string;
  readonly ran: number;
}

/** The results of a test on the unchanged sources. */
export interface KnownTest {
  readonly name: string;
  readonly ms: number;
}

/** A longer test is left to the suites: a survivor meets every test that reaches it. */
const TEST_MS_MAX = 2_500;

/** See T4. */
const FEW = 8;

/** A silence beyond `SILENCE_MS + SILENCE_FACTOR ×` the time of the test alone is a timeout. */
const SILENCE_MS = 5_000;
const SILENCE_FACTOR = 10;

/** A test that is silent for this long on the unchanged sources never ends: long searches take minutes. */
const PREPARE_MS = 600_000;

/** A loop that a mutant makes endless reaches the mutant far more often than all tests together do without it. */
const HITS_FACTOR = 100;

/** A worker with more than this is replaced. */
const MEMORY_MAX = 1_200_000_000;

/** The programs of a trial: one counts the reached mutants, the other only runs. */
export interface Programs {
  readonly worker: string;
  readonly counting: string;
  readonly plain: string;
}

/** Options of a trial. */
export interface TrialOptions {
  /** The time for all tests of a mutant, from the time of each on the unchanged sources. */
  readonly budgetMs: number;
  /** Tests of a file whose path begins so come after them. */
  readonly last: readonly string[];
  /** The mutants run where reaching is not counted: each meets all tests. */
  readonly elsewhere: boolean;
}

/** Everything that tests say about the sources as they are, and then about each mutant. */
export class Trial {
  readonly left: { readonly name: string; readonly why: string }[] = [];
  #names: readonly string[] = [];
  readonly #known = new Map<number, KnownTest>();
  readonly #reachedBy = new Map<string, number[]>();
  readonly #hits = new Map<string, number>();
  readonly #atLoad = new Set<string>();
  readonly #kills = new Map<string, Map<number, number>>();
  #child: ChildProcess | undefined;

  constructor(
    private readonly programs: Programs,
    private readonly options: TrialOptions,
  ) {}

  /** The tests that judge. */
  get tests(): readonly KnownTest[] {
    return [...this.#known.values()];
  }

  /** Performs the tests once on the sources as they are. */
  async prepare(): Promise<void> {
    const ended = await this.#ask({ bundle: this.programs.counting, atLength: this.options.last }, (told) => {
      if (told.kind === 'loaded') this.#loaded(told);
      if (told.kind === 'ran') this.#know(told);
      if (told.kind === 'reached') this.#reached(told);
    });
    this.stop();
    if (ended === 'silent') throw new Error('the tests on the sources as they are came to no end');
  }

  #loaded({ names, reached, failure }: Told & { kind: 'loaded' }): void {
    if (failure !== undefined) throw new Error(`the tests cannot be loaded: ${failure}`);
    this.#names = names;
    for (const mutant of reached) this.#atLoad.add(mutant);
  }

  // T2
  #know({ test, ms, failure }: Told & { kind: 'ran' }): void {
    const name = this.#names[test] ?? String(test);
    if (failure !== undefined) this.left.push({ name, why: `fails outside vitest: ${failure}` });
    else if (ms > TEST_MS_MAX && !this.#isLast(name)) this.left.push({ name, why: `takes ${Math.round(ms)} ms` });
    else this.#known.set(test, { name, ms });
  }

  #isLast(name: string): boolean {
    return this.options.last.some((file) => name.startsWith(file));
  }

  #reached({
    tests,
    suites,
    suitesOf,
  }: {
    tests: Reach;
    suites: Reach;
    suitesOf: readonly (readonly string[])[];
  }): void {
    for (const hits of [...Object.values(tests), ...Object.values(suites)]) {
      for (const [mutant, times] of Object.entries(hits)) this.#hits.set(mutant, (this.#hits.get(mutant) ?? 0) + times);
    }
    for (const test of this.#known.keys()) {
      const hits = [tests[`test ${test}`], ...(suitesOf[test] ?? []).map((id) => suites[id])];
      for (const mutant of new Set(hits.flatMap((each) => Object.keys(each ?? {})))) {
        this.#reachedBy.set(mutant, [...(this.#reachedBy.get(mutant) ?? []), test]);
      }
    }
  }

  /** Tries a mutant; `near` names its surroundings, since tests that found one there often find the next. */
  async judge(mutant: string, near: string): Promise<Judged> {
    const tests = this.#inOrder(this.#judging(mutant), near);
    if (tests.length === 0) return { verdict: 'no coverage', ran: 0 };
    const hitLimit = HITS_FACTOR * (this.#hits.get(mutant) ?? 1_000);
    let judged: Judged | undefined;
    let ran = 0;
    const ended = await this.#ask(
      { bundle: this.programs.plain, mutant, tests, hitLimit, atLength: this.options.last },
      (told) => {
        if (told.kind === 'loaded' && told.failure !== undefined) judged = { verdict: 'killed', by: 'loading', ran };
        if (told.kind !== 'ran') return;
        ran++;
        if (told.failure === undefined) return;
        this.#learn(near, told.test);
        judged = { verdict: 'killed', by: this.#names[told.test] ?? '', ran };
      },
    );
    if (ended === 'silent' && judged === undefined) return { verdict: 'timeout', ran };
    return judged ?? { verdict: 'survived', ran };
  }

  // T4
  #judging(mutant: string): readonly number[] {
    if (this.options.elsewhere || this.#atLoad.has(mutant)) return [...this.#known.keys()];
    const reaching = this.#reachedBy.get(mutant) ?? [];
    if (reaching.length >= FEW) return reaching;
    const files = new Set(reaching.map((test) => this.#fileOf(test)));
    return [...this.#known.keys()].filter((test) => files.has(this.#fileOf(test)));
  }

  #fileOf(test: number): string {
    return (this.#names[test] ?? '').split(' > ', 1)[0] as string;
  }

  // T3
  #inOrder(tests: readonly number[], near: string): readonly number[] {
    const here = this.#kills.get(near);
    const everywhere = this.#kills.get('');
    const worth = (test: number) =>
      (0.05 + (here?.get(test) ?? 0) + (everywhere?.get(test) ?? 0) / 20) / ((this.#known.get(test)?.ms ?? 0) + 2);
    let spent = 0;
    const within = (test: number) => {
      spent += this.#known.get(test)?.ms ?? 0;
      return spent <= this.options.budgetMs;
    };
    const isLast = (test: number) => this.#isLast(this.#names[test] ?? '');
    const first = tests.filter((test) => !isLast(test)).sort((a, b) => worth(b) - worth(a));
    return [...first.filter((test, n) => n === 0 || within(test)), ...tests.filter(isLast)];
  }

  #learn(near: string, test: number): void {
    for (const place of ['', near]) {
      const kills = this.#kills.get(place) ?? new Map<number, number>();
      kills.set(test, (kills.get(test) ?? 0) + 1);
      this.#kills.set(place, kills);
    }
  }

  // T1
  #ask(ask: Ask, hear: (told: Told) => void): Promise<'done' | 'silent'> {
    const child = this.#worker();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const finish = (how: 'done' | 'silent') => {
        clearTimeout(timer);
        child.removeAllListeners();
        if (how === 'silent') this.stop();
        resolve(how);
      };
      const wait = (ms: number) => {
        clearTimeout(timer);
        timer = setTimeout(() => finish('silent'), ms);
      };
      const patience = (test?: number) =>
        ask.mutant === undefined ? PREPARE_MS : SILENCE_MS + SILENCE_FACTOR * (this.#known.get(test ?? -1)?.ms ?? 0);
      child.on('exit', () => finish('silent'));
      child.on('message', (told: Told) => {
        wait(patience(told.kind === 'begun' ? told.test : undefined));
        try {
          hear(told);
        } catch (error) {
          reject(error);
          finish('silent');
        }
        if (told.kind !== 'done') return;
        finish('done');
        if (told.memory > MEMORY_MAX) this.stop();
      });
      wait(60_000);
      child.send(ask);
    });
  }

  #worker(): ChildProcess {
    this.#child ??= fork(this.programs.worker, [], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: ['--max-old-space-size=1500'],
    });
    return this.#child;
  }

  /** Ends the worker. */
  stop(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }
}
