/**
 * The handle of one tree.
 *
 * Reading needs no right of its own and waits for nothing but `result()`: rows come from the tables of the cell, launches
 * from a view. A refusal of a command is data.
 */
import {
  type AgentWorld,
  type AnyAgent,
  durationMs,
  isBelow,
  putText,
  readText,
  type Schema,
  stallsOf,
} from '@reprise/agent';
import {
  type Address,
  type Capability,
  present,
  RepriseError,
  requireKnownOptions,
  type Value,
} from '@reprise/contracts';
import type { Trouble, World } from '@reprise/kernel';
import {
  type AskRow,
  type Edge,
  type NodeRow,
  type RecordedNodeSpec as RecordedSpec,
  type TreeLimits,
  type TreeState,
  treeLimits,
} from '../pure/index.js';
import { key, pairsOf, secondOf } from '../pure/reducer/keys.js';
import { keptAnswer } from '../tools/node-tools.js';
import { type TreeEvent, type TreeWait, treeEventOf, treeFactIn } from '../views/index.js';
import { amountIn, type Money } from './budget.js';
import { goalAndPrompt, requireGoal, requireTask } from './goal.js';
import type { NodeChange, NodeDetail, NodeLaunch, NodePage, NodeSpec, OpenAsk, TreeWatchOptions } from './nodes.js';
import { launchRows } from './projections.js';
import { type Answering, type By, type Done, TreeRequests } from './requests.js';
import { outcomeOf, readGiven, type TreeOutcome } from './result.js';
import { recordedReturns, recordedSchema } from './returns.js';
import { recordedRights, rightsOn } from './rights.js';
import { readWaits } from './waiting.js';

/** What the handle of a tree is made from. */
interface TreeParts {
  readonly world: AgentWorld;
  readonly name: string;
  /** The agents that nodes may have. */
  readonly agents: readonly AnyAgent[];
  readonly files: boolean;
}

const PAGE_LENGTH = 100;
const PAGE_LENGTH_MAX = 1_000;

/** A tree of a world. */
export class Tree<R = unknown> {
  readonly #requests: TreeRequests;

  constructor(
    private readonly parts: TreeParts,
    private readonly schema: Schema<R> | undefined = undefined,
  ) {
    this.#requests = new TreeRequests(parts.world.kernel, parts.name);
  }

  /** The cell of the tree. */
  get address(): Address {
    return this.#requests.cell.address;
  }

  /** Brings the tree back after its cell has failed, with the state before the fault. See `World.revive`. */
  async revive(by: By = {}): Promise<void> {
    await this.parts.world.revive(this, by);
  }

  /**
   * The troubles that keep the tree from going on: of the store, of a cell of it, of a service that its nodes wait for. See
   * `World.trouble`.
   */
  async trouble(): Promise<readonly Trouble[]> {
    return stallsOf(await this.parts.world.trouble(), isBelow([this.name]));
  }

  /** Its name: the key of its cell. */
  get name(): string {
    return this.parts.name;
  }

  /**
   * Waits for its end.
   *
   * @throws RepriseError `invalid_argument` when it was not started; `invalid_value` for a result that does not fit the
   *   schema of the app; `cell_failed`, `world_closed`
   */
  result(): Promise<TreeOutcome<R>> {
    return outcomeOf(this.#kernel, this.#requests, this.schema);
  }

  /** Its nodes by their numbers, questions included. */
  async nodes(page: NodePage = {}): Promise<readonly NodeRow[]> {
    requireKnownOptions(page, { under: true, after: true, limit: true }, 'nodes');
    const { under, after = 0, limit = PAGE_LENGTH } = page;
    const below = new Set(under === undefined ? [] : [under]);
    const found: NodeRow[] = [];
    const from = under === undefined ? key(after + 1) : key(under);
    for await (const [, entry] of this.#requests.cell.each('nodes', { from })) {
      const row = entry as unknown as NodeRow;
      // A child has a higher number than its parent.
      if (under !== undefined && !below.has(row.n) && !below.has(row.parent ?? 0)) continue;
      below.add(row.n);
      if (row.n > after) found.push(row);
      if (found.length === Math.min(limit, PAGE_LENGTH_MAX)) break;
    }
    return found;
  }

  /** One node; undefined for a number that no node has. */
  async node(n: number): Promise<NodeDetail | undefined> {
    const row = await this.#requests.row(n);
    if (row === undefined) return undefined;
    const { content } = this.#kernel;
    const [needs, children] = [await this.#pairs('needs', n), await this.#pairs('children', n)];
    const asks = await this.asks();
    return {
      ...row,
      needs: needs.map(([node, edge]) => ({ node, ...(edge as unknown as Edge) })),
      children: children.map(([child]) => child),
      ...(row.prompt_ref === null ? {} : { prompt: await readText(content, row.prompt_ref) }),
      ...(row.result === null ? {} : { given: await readGiven(content, row.result) }),
      launches: await this.#launches(n),
      openAsks: asks.filter(({ asker }) => asker === n),
      ...present({ rights: await rightsOn(this.#requests, row) }),
    };
  }

  /**
   * What happens, as it becomes durable; all that happened before comes first.
   *
   * @throws RepriseError `cell_failed` when the cell of the tree has failed and nothing more comes
   */
  async *events(options: TreeWatchOptions = {}): AsyncGenerator<TreeEvent> {
    requireKnownOptions(options, { after: true, follow: true, signal: true }, 'events');
    const { after = -1, follow = true, signal } = options;
    const last = follow ? Number.POSITIVE_INFINITY : this.#kernel.head.seq;
    if (after + 1 > last) return;
    for await (const { seq: frame, at, records } of this.#kernel.frames(
      after + 1,
      signal,
      follow ? [this.address] : [],
    )) {
      for (const record of records) {
        const fact = treeFactIn(record);
        if (fact?.tree === this.name) yield treeEventOf(fact, { frame, at });
      }
      if (frame >= last) return;
    }
  }

  /** Its open questions, the oldest first. */
  async asks(): Promise<readonly OpenAsk[]> {
    const { content } = this.#kernel;
    const open: OpenAsk[] = [];
    for await (const [at, entry] of this.#requests.cell.each('asks')) {
      const {
        outcome,
        asker,
        options,
        returns,
        route,
        default: chosen,
        deadline,
        text_ref,
      } = entry as unknown as AskRow;
      if (outcome !== null) continue;
      open.push({
        ...{ ask: Number(at), asker, options, returns, route, question: await readText(content, text_ref) },
        ...present({ default: chosen === null ? undefined : options[chosen], deadline: deadline ?? undefined }),
      });
    }
    return open;
  }

  /**
   * What each of its nodes waits for: an answer or an approval of a person, the end of a pause, budget, other nodes. The same as
   * `reprise tree show --json` prints as `waits`.
   *
   * @throws RepriseError `cell_failed` when the cell of the tree has failed; `world_closed`
   */
  waits(): Promise<readonly TreeWait[]> {
    return readWaits(this.#kernel, this.#requests.cell);
  }

  /**
   * Answers an open question: with one of its options where it has some, with a text or a boolean otherwise. Of several
   * who answer one question exactly one is told `applied`; every other one is told who was first.
   */
  async answer(ask: number, value: unknown, by?: By): Promise<Answering> {
    if (typeof value !== 'boolean' && (typeof value !== 'string' || value === '')) {
      throw new RepriseError('invalid_argument', 'an answer is a text or a boolean', {
        where: 'answer',
        actual: value,
      });
    }
    return this.#requests.answer({ ask, ...(await keptAnswer(value, this.#kernel.content)) }, by);
  }

  /** Stops a node and all below it. */
  stop(n: number, by?: By): Promise<Done> {
    return this.#requests.command('tree/Stop@1', { node: n }, by);
  }

  /** Pauses a node: nothing below it begins. */
  pause(n: number, by?: By): Promise<Done> {
    return this.#requests.command('tree/Pause@1', { node: n }, by);
  }

  /** Lets a paused node go on. */
  resume(n: number, by?: By): Promise<Done> {
    return this.#requests.command('tree/Resume@1', { node: n }, by);
  }

  /** Tries an ended node again: by another agent, in a new session (`fresh`), or with another budget. */
  async retry(
    n: number,
    options: By & { readonly agent?: AnyAgent; readonly fresh?: boolean; readonly budget?: Money } = {},
  ): Promise<Done> {
    const { agent, fresh, budget, ...by } = options;
    const change = { agent: agent?.name, fresh: fresh === true ? true : undefined, budget: await this.#amount(budget) };
    return this.#requests.command('tree/Retry@1', present({ node: n, ...change }), by);
  }

  /**
   * Adds a child to a node.
   *
   * @throws RepriseError `request_rejected` with the tree's refusal as `details.reason`
   */
  async add(parent: number, spec: NodeSpec, by: By = {}): Promise<{ readonly node: number }> {
    const value = { parent, type: spec.type ?? 'spawn', nodes: [await this.#recorded(spec)] };
    const sent = await this.#requests.send('tree/Add@1', value, by);
    if (typeof sent === 'string') {
      throw new RepriseError('request_rejected', `tree ${this.name} refused a node below #${parent}: ${sent}`, {
        where: 'add',
        reason: sent,
        hint: 'docs/reference/trees.md says when each refusal comes.',
      });
    }
    const made = (await this.#requests.changes(sent)).filter((row) => row.parent === parent).map(({ n }) => n);
    return { node: Math.max(...made) };
  }

  /** Changes a node that has not begun, or is paused. */
  async modify(n: number, change: NodeChange, by?: By): Promise<Done> {
    requireKnownOptions(change, { goal: true, prompt: true, priority: true, agent: true, budget: true }, 'modify');
    const { goal, prompt, priority, agent, budget } = change;
    const value = present({
      node: n,
      goal: goal === undefined ? undefined : requireGoal(goal),
      prompt_ref: prompt === undefined ? undefined : await putText(this.#kernel.content, requireTask(prompt)),
      priority,
      agent: agent?.name,
      budget: await this.#amount(budget),
    });
    return this.#requests.command('tree/Modify@1', value, by);
  }

  /**
   * Narrows what a node and all below it may do, also while they run. What is under way and is permitted no longer ends
   * before anything else happens. Rights are never given back.
   *
   * @example await tree.restrict(4, { may: { tool: ['read_*'] } })
   */
  async restrict(n: number, rights: Capability, by?: By): Promise<Done> {
    const value = { node: n, rights: recordedRights(rights, 'restrict') };
    return this.#requests.command('tree/Restrict@1', value, by);
  }

  /** Tells a node something: before its next step when it runs, in its next prompt otherwise. */
  async tell(n: number, text: string, by?: By): Promise<Done> {
    const text_ref = await putText(this.#kernel.content, requireTask(text));
    return this.#requests.command('tree/Tell@1', { node: n, text_ref }, by);
  }

  /** Changes the limits of the tree, or what all its nodes together may use. */
  async limit(change: Partial<TreeLimits> | { readonly budget: Money }, by?: By): Promise<Done> {
    if ('budget' in change)
      return this.#requests.command('tree/Limit@1', { budget: await this.#amount(change.budget) }, by);
    const limits = limitsOf(change);
    return this.#requests.command('tree/Limit@1', { limits }, by);
  }

  get #kernel(): World {
    return this.parts.world.kernel;
  }

  async #pairs(table: 'needs' | 'children', n: number): Promise<readonly (readonly [number, Value])[]> {
    const found: (readonly [number, Value])[] = [];
    for await (const [pair, value] of this.#requests.cell.each(table, pairsOf(n))) found.push([secondOf(pair), value]);
    return found;
  }

  async #launches(n: number): Promise<readonly NodeLaunch[]> {
    const view = (await this.parts.world.views()).view(launchRows);
    const found: NodeLaunch[] = [];
    for await (const { key: at, row } of view.each({ under: [this.name, n] })) {
      const { prompt_ref, seq: frame, ...launch } = row;
      const prompt = await readText(this.#kernel.content, prompt_ref);
      found.push({ ...launch, launch: Number([at].flat().at(-1)), prompt, frame });
    }
    return found;
  }

  async #recorded(spec: NodeSpec): Promise<RecordedSpec> {
    requireKnownOptions(spec, SPEC_FIELDS, 'add');
    const { content } = this.#kernel;
    const { goal, prompt } = goalAndPrompt(spec);
    const { returns, schema_ref } = await recordedReturns(content, spec.returns, 'add returns');
    if (returns === 'file' && !this.parts.files) throw noFiles();
    const given = spec.schema === undefined ? schema_ref : await recordedSchema(content, spec.schema, 'add schema');
    return {
      goal,
      prompt_ref: await putText(content, prompt),
      returns,
      ...present({
        schema_ref: given ?? undefined,
        blocked_by: spec.blockedBy === undefined ? undefined : [...spec.blockedBy],
        priority: spec.priority,
        agent: spec.agent?.name,
        budget: await this.#amount(spec.budget),
        timeout_ms: spec.timeout === undefined ? undefined : durationMs(spec.timeout, 'add timeout'),
        rights: spec.rights === undefined ? undefined : recordedRights(spec.rights, 'add rights'),
      }),
    };
  }

  /** An amount in the unit of this tree. */
  async #amount(money: Money | undefined): Promise<number | undefined> {
    if (money === undefined) return undefined;
    const state = await this.#requests.cell.state<TreeState>();
    return amountIn(state?.budget.unit ?? 'tokens', money, 'budget');
  }
}

const SPEC_FIELDS: Readonly<Record<keyof NodeSpec, true>> = {
  goal: true,
  prompt: true,
  type: true,
  returns: true,
  schema: true,
  blockedBy: true,
  priority: true,
  agent: true,
  budget: true,
  timeout: true,
  rights: true,
};

/** Limits that are checked. @throws RepriseError `invalid_argument` */
export function limitsOf(change: Partial<TreeLimits>): Partial<TreeLimits> {
  const checked = treeLimits.partial().safeParse(present(change));
  if (checked.success) return present(checked.data) as Partial<TreeLimits>;
  const [issue] = checked.error.issues;
  throw new RepriseError('invalid_argument', `invalid limit "${String(issue?.path[0] ?? '')}"`, {
    where: 'limits',
    expected: issue?.message,
    actual: change,
  });
}

/** The error for a result that is a file, in a tree without a folder. */
export function noFiles(): RepriseError {
  return new RepriseError('invalid_argument', 'this tree takes no files as results', {
    where: 'returns',
    hint: 'Give the part a folder: trees({ agents, files: files(folder) }).',
  });
}
