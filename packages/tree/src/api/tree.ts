/**
 * The handle of one tree.
 *
 * Reading needs no right of its own and waits for nothing but `result()`: rows come from the tables of the cell, launches
 * from a view. A refusal of a command is data.
 */
import { type AgentWorld, type AnyAgent, isBelow, putText, type Schema, stallsOf } from '@reprise/agent';
import { type Address, type Capability, present, RepriseError, requireFields } from '@reprise/contracts';
import type { Trouble } from '@reprise/kernel';
import type { NodeRow, TreeLimits } from '../pure/index.js';
import { keptAnswer } from '../tools/node-tools.js';
import type { TreeEvent, TreeWait } from '../views/index.js';
import type { Money } from './budget.js';
import { requireTask } from './goal.js';
import type { NodeChange, NodeDetail, NodePage, NodeSpec, OpenAsk, TreeWatchOptions } from './nodes.js';
import { readAsks, readEvents, readNode, readNodes, readWaits } from './reading.js';
import {
  limitsOf,
  type NodeTerms,
  numberOf,
  recordedAmount,
  recordedChange,
  recordedNode,
  recordedRights,
} from './recorded.js';
import { type Answering, type By, type Done, TreeRequests } from './requests.js';
import { outcomeOf, type TreeOutcome } from './result.js';

interface TreeParts {
  readonly world: AgentWorld;
  readonly name: string;
  /** The agents that nodes may have. */
  readonly agents: readonly AnyAgent[];
  readonly files: boolean;
}

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
   *   schema of the app; `cell_failed`, `world_closed`; `waits_for_itself` in a tool of one of its nodes
   */
  result(): Promise<TreeOutcome<R>> {
    return outcomeOf(this.parts.world.kernel, this.#requests, this.schema);
  }

  /** Its nodes by their numbers, questions included. */
  nodes(page: NodePage = {}): Promise<readonly NodeRow[]> {
    return readNodes(this.#requests.cell, page);
  }

  /** One node; undefined for a number that no node has. */
  async node(n: number): Promise<NodeDetail | undefined> {
    return readNode(this.parts.world, this.#requests, numberOf(n, 'node(node)'));
  }

  /**
   * What happens, as it becomes durable; all that happened before comes first.
   *
   * @throws RepriseError `cell_failed` when the cell of the tree has failed and nothing more comes
   */
  events(options: TreeWatchOptions = {}): AsyncGenerator<TreeEvent> {
    return readEvents(this.parts.world, this.#requests.cell, options);
  }

  /** Its open questions, the oldest first. */
  asks(): Promise<readonly OpenAsk[]> {
    return readAsks(this.parts.world, this.#requests.cell);
  }

  /**
   * What each of its nodes waits for: an answer or an approval of a person, the end of a pause, budget, other nodes. The same as
   * `reprise tree show --json` prints as `waits`.
   *
   * @throws RepriseError `cell_failed` when the cell of the tree has failed; `world_closed`
   */
  waits(): Promise<readonly TreeWait[]> {
    return readWaits(this.parts.world.kernel, this.#requests.cell);
  }

  /**
   * Answers an open question: with one of its options where it has some, with a text or a boolean otherwise. Of several
   * who answer one question exactly one is told `applied`; every other one is told who was first.
   */
  async answer(ask: number, value: unknown, by?: By): Promise<Answering> {
    const n = numberOf(ask, 'answer(ask)', 'the number of a question');
    if (typeof value !== 'boolean' && (typeof value !== 'string' || value === '')) {
      throw new RepriseError('invalid_argument', 'an answer is a text or a boolean', {
        where: 'answer',
        actual: value,
      });
    }
    return this.#requests.answer({ ask: n, ...(await keptAnswer(value, this.#content)) }, by);
  }

  /** Stops a node and all below it. */
  async stop(n: number, by?: By): Promise<Done> {
    return this.#requests.command('tree/Stop@1', { node: numberOf(n, 'stop(node)') }, by);
  }

  /** Pauses a node: nothing below it begins. */
  async pause(n: number, by?: By): Promise<Done> {
    return this.#requests.command('tree/Pause@1', { node: numberOf(n, 'pause(node)') }, by);
  }

  /** Lets a paused node go on. */
  async resume(n: number, by?: By): Promise<Done> {
    return this.#requests.command('tree/Resume@1', { node: numberOf(n, 'resume(node)') }, by);
  }

  /** Tries an ended node again: by another agent, in a new session (`fresh`), or with another budget. */
  async retry(
    n: number,
    options: By & { readonly agent?: AnyAgent; readonly fresh?: boolean; readonly budget?: Money } = {},
  ): Promise<Done> {
    const node = numberOf(n, 'retry(node)');
    requireFields(options, 'tree.retry(options)', 'an object with any of agent, fresh, budget, id, as');
    const { agent, fresh, budget, ...by } = options;
    const change = { agent: agent?.name, fresh: fresh === true ? true : undefined, budget: await this.#amount(budget) };
    return this.#requests.command('tree/Retry@1', present({ node, ...change }), by);
  }

  /**
   * Adds a child to a node.
   *
   * @throws RepriseError `request_rejected` with the tree's refusal as `details.reason`
   */
  async add(parent: number, spec: NodeSpec, by: By = {}): Promise<{ readonly node: number }> {
    numberOf(parent, 'add(parent)');
    requireFields(spec, 'tree.add(spec)', 'a node, such as { goal, prompt }');
    const node = await recordedNode(this.#content, spec, { unit: await this.#unit(), files: this.parts.files });
    const sent = await this.#requests.send('tree/Add@1', { parent, type: spec.type ?? 'spawn', nodes: [node] }, by);
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
    const node = numberOf(n, 'modify(node)');
    const changed = await recordedChange(this.#content, change, await this.#unit());
    return this.#requests.command('tree/Modify@1', { node, ...changed }, by);
  }

  /**
   * Narrows what a node and all below it may do, also while they run. What is under way and is permitted no longer ends
   * before anything else happens. Rights are never given back.
   *
   * @example await tree.restrict(4, { may: { tool: ['read_*'] } })
   */
  async restrict(n: number, rights: Capability, by?: By): Promise<Done> {
    const value = { node: numberOf(n, 'restrict(node)'), rights: recordedRights(rights, 'restrict') };
    return this.#requests.command('tree/Restrict@1', value, by);
  }

  /** Tells a node something: before its next step when it runs, in its next prompt otherwise. */
  async tell(n: number, text: string, by?: By): Promise<Done> {
    const node = numberOf(n, 'tell(node)');
    const text_ref = await putText(this.#content, requireTask(text));
    return this.#requests.command('tree/Tell@1', { node, text_ref }, by);
  }

  /** Changes the limits of the tree, or what all its nodes together may use. */
  async limit(change: Partial<TreeLimits> | { readonly budget: Money }, by?: By): Promise<Done> {
    requireFields(change, 'tree.limit(change)', 'limits, or { budget }');
    const value = 'budget' in change ? { budget: await this.#amount(change.budget) } : { limits: limitsOf(change) };
    return this.#requests.command('tree/Limit@1', value, by);
  }

  get #content(): AgentWorld['kernel']['content'] {
    return this.parts.world.kernel.content;
  }

  async #unit(): Promise<NodeTerms['unit']> {
    return (await this.#requests.cell.state())?.budget.unit ?? 'tokens';
  }

  async #amount(money: Money | undefined): Promise<number | undefined> {
    return money === undefined ? undefined : recordedAmount(await this.#unit(), money);
  }
}
