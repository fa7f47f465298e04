/** Random schedules of a tree, played on the reducer and beside it on the oracle. */
import type { Actor } from '@reprise/contracts';
import type { ReducerDefinition } from '@reprise/kernel/define';
import { checkPlan, launchPlan, peoplePlan, questionPlan } from '@reprise/tree';
import fc from 'fast-check';
import { inputOf } from '../staged-values.js';
import { compare, Differs, follow, type Row } from './follow.js';
import type { Node } from './oracle/node.js';
import { Oracle } from './oracle/oracle.js';
import { type Schedule, type Step, schedules, startOf, TEXT } from './schedule.js';
import { CANCELLED, type Delivered, ended, Stage, type StagedPlan, type StagedSession } from './stage.js';

/** What was played. */
export interface Played {
  readonly nodes: number;
  readonly syntheses: number;
  readonly launches: number;
}

const R = TEXT;
const KEY = 't';

/**
 * Plays a schedule to the end of its tree.
 *
 * @throws Error what the reducer did otherwise than the oracle, or that the tree is stuck
 */
export function play(reducer: ReducerDefinition, schedule: Schedule): Played {
  const player = new Player(reducer, schedule);
  for (const step of schedule.steps) player.take(step);
  player.finish();
  return {
    nodes: player.oracle.nodes.length,
    syntheses: player.oracle.syntheses,
    launches: player.oracle.launched.length,
  };
}

/** Who looks at a tree while it is played. */
export interface Looker {
  hear(delivered: Delivered): void;
  /** After the start, and after each step. */
  look(stage: Stage): void;
}

/** Plays a schedule while a looker watches. */
export function walk(reducer: ReducerDefinition, schedule: Schedule, looker: Looker): void {
  const look = (): void => looker.look(player.stage);
  const player = new Player(reducer, schedule, (delivered) => looker.hear(delivered));
  look();
  for (const step of schedule.steps) {
    player.take(step);
    look();
  }
}

/** A tree in the middle of a random schedule. */
export function grown(reducer: ReducerDefinition, seed: number): Stage {
  const [schedule] = fc.sample(schedules(), { seed, numRuns: 1 });
  const player = new Player(reducer, schedule as Schedule);
  for (const step of schedule?.steps ?? []) player.take(step);
  return player.leave();
}

class Player {
  readonly oracle: Oracle;
  readonly stage: Stage;
  #calls = 0;
  #launched = 0;
  #counted = 0;
  #isFollowed = true;

  constructor(reducer: ReducerDefinition, schedule: Schedule, hear: (delivered: Delivered) => void = () => undefined) {
    const { terms, people, purse } = schedule;
    this.oracle = new Oracle(terms, people, purse);
    this.stage = new Stage(reducer, ['tree/Tree@1', KEY], (delivered) => {
      this.#holdBudget();
      if (this.#isFollowed) follow(this.oracle, delivered);
      hear(delivered);
    });
    this.stage.send({ name: 'tree/Start@1', value: startOf(schedule) });
    this.#compare('start');
    // A root with children, so that something can happen.
    this.take(['compose', 0, 0, 0]);
    this.take(['spawn', 0, 0, 0]);
  }

  take(step: Step): void {
    this.#do(step);
    this.#compare(step.join(' '));
  }

  /** The stage, from now on without the oracle. */
  leave(): Stage {
    this.#isFollowed = false;
    return this.stage;
  }

  /** Lets everything end: prompts are composed, results given, questions answered, pauses ended. */
  finish(): void {
    for (let round = 0; round < 3_000; round++) {
      const next = this.#next();
      if (next === undefined) break;
      next();
      this.#compare('the end');
    }
    if (this.stage.state.ended === null) throw new Differs('the tree is stuck');
    if (this.stage.state.running !== 0) throw new Differs(`${this.stage.state.running} slots are taken behind the end`);
    if (this.stage.state.reserved !== 0) throw new Differs('an amount is set aside behind the end');
  }

  /** What the end of the tree waits for next. */
  #next(): (() => void) | undefined {
    const paused = this.oracle.nodes.find((node) => node.paused && !node.ended);
    if (paused !== undefined) return () => this.stage.send({ name: 'tree/Resume@1', value: { node: paused.n } });
    const [plan] = [...this.stage.plans.values()].filter(({ name }) => name !== 'tree/people_plan@1');
    if (plan !== undefined) return () => this.#raise(plan, 0);
    const runs = this.#runs();
    const cancelled = runs.find(({ run }) => run?.cancelling);
    if (cancelled !== undefined) return () => this.stage.endRun(cancelled, CANCELLED);
    const free = runs.find(({ run }) => [...(run?.calls ?? [])].every(([id]) => id.startsWith('x.')));
    if (free !== undefined) return () => this.stage.endRun(free, ended('completed', R));
    const ask = this.oracle.nodes.find(({ question }) => question?.how === null && question.route.length === 0);
    const picked = ask?.question?.options[0] ?? null;
    if (ask !== undefined)
      return () => this.stage.send({ name: 'tree/Answer@1', value: { ask: ask.n, text_ref: R, picked } });
    // What two nodes ask each other has a deadline at least on one side.
    return this.stage.timers.size > 0 ? () => this.stage.later(3_600_000) : undefined;
  }

  #runs(): StagedSession[] {
    return [...this.stage.sessions.values()].filter(({ run }) => run !== null);
  }

  #compare(step: string): void {
    const rows = this.stage.table('nodes').keys.map((key) => this.stage.table('nodes').get(key) as Row);
    try {
      const launched = this.stage.launched.slice(this.#launched).join(', ');
      const wanted = this.oracle.launched.slice(this.#launched).join(', ');
      if (launched !== wanted) throw new Differs(`launched: ${launched}; the oracle: ${wanted}`);
      this.#launched = this.stage.launched.length;
      compare(this.oracle, rows, this.stage.state.status);
      const slots = this.oracle.nodes.filter(({ slot }) => slot).length;
      if (slots !== this.stage.state.running)
        throw new Differs(`${this.stage.state.running} slots are taken; the oracle: ${slots}`);
      this.#compareBudget();
    } catch (error) {
      if (error instanceof Differs) error.message = `after ${step}: ${error.message}`;
      throw error;
    }
  }

  /** A launch never exceeds the budget of the tree. */
  #holdBudget(): void {
    const { launched, state } = this.stage;
    const hasLaunched = launched.length > this.#counted;
    this.#counted = launched.length;
    const { spent, reserved, budget } = state;
    if (hasLaunched && budget.tree !== null && spent.tokens + reserved > budget.tree)
      throw new Differs(`${spent.tokens} are spent and ${reserved} set aside of ${budget.tree}`);
  }

  /** What the tree counts is the sum over its nodes. */
  #compareBudget(): void {
    const { spent, reserved } = this.stage.state;
    const { oracle } = this;
    if (spent.tokens !== oracle.spent) throw new Differs(`${spent.tokens} are spent; the oracle: ${oracle.spent}`);
    if (reserved !== oracle.reserved) throw new Differs(`${reserved} are set aside; the oracle: ${oracle.reserved}`);
  }

  #do([kind, a, b, c]: Step): unknown {
    const { stage, oracle } = this;
    const open = this.#runs().filter(({ run }) => run?.cancelling === false);
    const working = open.filter(({ waits, paused }) => !waits && !paused);
    const session = pick(working, a);
    const n = 1 + ((oracle.nodes.length - 1 + b * 3) % oracle.nodes.length);
    switch (kind) {
      case 'compose':
        return this.#plan('tree/launch_plan@1', a, b);
      case 'check':
        return this.#plan('tree/check_plan@1', a, b);
      case 'question':
        return this.#plan('tree/question_plan@1', a, b);
      case 'people':
        return this.#plan('tree/people_plan@1', a, b);
      case 'spawn':
        return this.#call(session, b % 2 === 0 ? 'spawn' : 'fork', this.#spec(b, c));
      case 'serial': {
        const steps = Array.from({ length: 1 + (b % 3) }, () => ({ goal: 'step', prompt_ref: R }));
        const needs = c >= 6 ? { blocked_by: [n] } : {};
        return this.#call(session, 'serial', {
          goal: 'g',
          steps,
          ...needs,
          ...(c % 2 === 0 ? {} : { result: 'list' }),
        });
      }
      case 'complete':
        return this.#call(session, 'complete', [{ text: { ref: R, bytes: 3 } }, {}][b - 6] ?? { value_ref: R });
      case 'stop':
        return this.#call(session, 'stop', { node_id: n });
      case 'ask':
        return this.#call(session, 'ask', this.#question(b, c));
      case 'answer': {
        const ask = pick(
          oracle.nodes.filter(({ question }) => question !== null && (a === 7 || question.how === null)),
          a,
        );
        if (ask?.question == null) return;
        const options = ask.question.options;
        const picked = c === 7 ? 'other' : (options[c % Math.max(1, options.length)] ?? null);
        if (b === 7) {
          return stage.send(
            { name: 'tree/Answer@1', value: { ask: ask.n, text_ref: R, picked } },
            null,
            pick(ACTORS, c),
          );
        }
        const by = working.find(({ key }) => ask.question?.route.includes(nodeOf(key))) ?? session;
        return this.#call(b === 6 ? session : by, 'answer', { ask_id: ask.n, text_ref: R, picked });
      }
      case 'end': {
        const one = pick(open, a);
        if (one?.run == null || one.paused) return;
        const isFree = [...one.run.calls.keys()].every((id) => id.startsWith('x.'));
        const how =
          ['completed', 'completed', 'completed', 'completed', 'failed', 'limit', 'timeout', 'cancelled'][b] ?? '';
        if (how === 'completed' && !isFree) return;
        return stage.endRun(one, ended(how, how === 'completed' && c < 7 ? R : null, [15, 0, 40, 5][(a + c) % 4]));
      }
      case 'drain': {
        const one = pick(
          this.#runs().filter(({ run }) => run?.cancelling),
          a,
        );
        return one === undefined ? undefined : stage.endRun(one, CANCELLED);
      }
      case 'Stop':
      case 'Pause':
      case 'Resume':
        return stage.send(
          { name: `tree/${kind}@1`, value: { node: n === 1 && kind === 'Stop' && c < 6 ? 2 : n } },
          null,
          pick(ACTORS, a),
        );
      case 'Retry':
        return stage.send({
          name: 'tree/Retry@1',
          value: {
            node: this.#endedNode(b) ?? n,
            ...([{ budget: 30 }, { agent: 'helper' }, { fresh: true }][c - 5] ?? {}),
          },
        });
      case 'Add':
        return stage.send({ name: 'tree/Add@1', value: { parent: n, type: 'spawn', nodes: [this.#spec(a, c)] } });
      case 'Modify': {
        const node = c === 7 ? n : (pick(this.#changeable(), b)?.n ?? n);
        const change = [{ priority: 3 - a }, { budget: 10 * (a + 1) }, { agent: 'helper' }, { goal: 'other' }][c % 4];
        return stage.send({ name: 'tree/Modify@1', value: { node, ...change } });
      }
      case 'Tell':
        return stage.send({ name: 'tree/Tell@1', value: { node: n, text_ref: R } });
      case 'Limit': {
        const limits = { parallel: 1 + (a % 4), attempts: 1 + (b % 3), generations: 1 + (c % 3) };
        const value = [{ limits }, { limits }, { budget: 60 * b }, { limits, budget: null }][c % 4] ?? { limits };
        return stage.send({ name: 'tree/Limit@1', value });
      }
      case 'time':
        return stage.later([1_000, 21_000, 61_000, 3_600_000][a % 4] ?? 0);
      case 'late':
        return this.#late(a, b);
      default:
        kind satisfies never;
    }
  }

  #changeable(): Node[] {
    return this.oracle.nodes.filter(({ status, paused }) => status === 'pending' || paused);
  }

  #endedNode(b: number): number | undefined {
    return pick(
      this.oracle.nodes.filter((node) => node.ended && node.n > 1),
      b,
    )?.n;
  }

  /** The specification of a child, with needs among the nodes. */
  #spec(b: number, c: number): object {
    const { length } = this.oracle.nodes;
    const nodes = [1 + ((b * 5 + c) % (length + (c === 7 ? 1 : 0))), 1 + ((b + c * 3) % length)];
    const [one, other] = nodes as [number, number];
    const needs = [
      [],
      [],
      [],
      [one],
      [one],
      [{ node: one, on_failure: 'continue' }],
      [one, { node: other, on_failure: 'continue' }],
      [one],
    ][c];
    const more = b === 5 ? { budget: 8 * (c + 1) } : {};
    return { goal: 'g', prompt_ref: R, blocked_by: needs ?? [], priority: ((b + c) % 3) - 1, ...more };
  }

  #question(b: number, c: number): object {
    const target = [
      'human',
      'parent',
      'parent',
      'children',
      'children',
      1 + (this.oracle.nodes.length >> 1),
      this.oracle.nodes.length,
      'parent',
    ][b];
    const options = c % 3 === 0 ? {} : { options: ['a', 'b'] };
    const preset = c % 3 === 1 ? { default: 'a' } : {};
    return {
      question_ref: R,
      text_ref: R,
      goal: 'q',
      target,
      ...options,
      ...preset,
      ...(c >= 4 ? { deadline_seconds: 600 } : {}),
    };
  }

  /** Every fourth node is a program: its calls come from within its turn. Every fifth call of a model is made twice at once. */
  #call(session: StagedSession | undefined, name: string, args: object): void {
    if (session === undefined) return;
    const prefix = nodeOf(session.key) % 4 === 3 ? 'x.' : '';
    const ids = [`${prefix}c${this.#calls++}`];
    if (prefix === '' && this.#calls % 5 === 0) ids.push(`c${this.#calls++}`);
    this.stage.call(session, ids, name, args);
  }

  #plan(name: string, a: number, b: number): void {
    const plan = pick(
      [...this.stage.plans.values()].filter((one) => one.name === name),
      a,
    );
    if (plan !== undefined) this.#raise(plan, b);
  }

  /** Lets a plan raise what it raises; with 7 it fails. */
  #raise(plan: StagedPlan, b: number): void {
    const { stage } = this;
    const isOk = b < 7;
    const [launched, checked] = [inputOf(plan, launchPlan), inputOf(plan, checkPlan)];
    const [question, people] = [inputOf(plan, questionPlan), inputOf(plan, peoplePlan)];
    if (launched !== undefined) {
      const { sections: _, ...value } = launched;
      const composed = isOk ? { text_ref: R, code: null } : { text_ref: null, code: 'boom' };
      stage.raise(plan, { name: 'tree/Composed@1', value: { ...value, ...composed } });
    } else if (checked !== undefined) {
      const { n, launch, call } = checked;
      const given = b < 5 ? { ref: R, kind: 'value', bytes: 3 } : null;
      const value = { n, launch, call, given, problems_ref: b === 5 || b === 6 ? R : null, code: isOk ? null : 'boom' };
      stage.raise(plan, { name: 'tree/Checked@1', value });
    } else if (question !== undefined) {
      const { ask, to } = question;
      stage.raise(plan, { name: 'tree/Questioned@1', value: { ask, to, text_ref: isOk ? R : null } });
    } else if (people !== undefined) {
      const { ask } = people;
      const value = { ask, text_ref: isOk ? R : null, by: isOk ? pick(ACTORS, b) : null, late: !isOk };
      stage.raise(plan, { name: 'tree/PeopleAnswered@1', value });
    }
  }

  /** Something comes back that is expected no longer. */
  #late(a: number, b: number): void {
    const { stage } = this;
    const session = pick([...stage.sessions.values()], a);
    if (session === undefined || session.runs < 2) return;
    const value = {
      session: session.key,
      run: b % (session.runs - 1),
      news: { kind: 'settled', ...ended('completed', R) },
    };
    stage.send({ name: 'aos.agent/ChildNotice@1', value }, ['aos.agent/SessionReducer@1', session.key]);
  }
}

/** Those who answer and stop from outside: the same name may be a person's, a rule's, a program's or a node's of another tree. */
const ACTORS: readonly Actor[] = [
  { kind: 'person', id: 'ann' },
  { kind: 'person', id: 'bob' },
  { kind: 'program', id: 'ann' },
  { kind: 'rule', id: 'ann', granted_by: 'bob' },
  { kind: 'rule', id: 'ann', granted_by: null },
];

function pick<T>(list: readonly T[], which: number): T | undefined {
  return list[which % Math.max(1, list.length)];
}

function nodeOf(session: string): number {
  return Number(/\/(\d+)/.exec(session)?.[1] ?? 0);
}
