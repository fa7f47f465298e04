/** What an app says about nodes, and what it reads of them. */
import type { AnyAgent, Duration } from '@reprise/agent';
import type { Capability, Value } from '@reprise/contracts';
import type { AskRow, Edge, Need, NodeRow } from '../pure/index.js';
import type { NodeView } from '../views/index.js';
import type { Money } from './budget.js';
import type { ReadResult } from './result.js';
import type { TreeReturns } from './returns.js';

/** A node that an app adds. */
export interface NodeSpec {
  /** At most 500 bytes; of a longer text the first line is the goal, and all of it the prompt. */
  readonly goal: string;
  /** Its task; the goal when absent. */
  readonly prompt?: string;
  /** `fork` also shows it the results of its siblings that are complete when it begins. Default `spawn`. */
  readonly type?: 'spawn' | 'fork';
  /** The type of its result, or a Standard Schema; text when absent. */
  readonly returns?: TreeReturns<unknown>;
  /** The JSON Schema of a result whose type is given by name. */
  readonly schema?: Value;
  readonly blockedBy?: readonly Need[];
  /** Higher values begin first; 0 when absent. */
  readonly priority?: number;
  readonly agent?: AnyAgent;
  readonly budget?: Money;
  /** How long each of its runs may work. */
  readonly timeout?: Duration;
  /**
   * What it and all below it may do, for example `{ may: { tool: ['read_*'] } }`: within what every node above it may.
   * The tools of the tree itself (`spawn`, `complete` and so on) follow from its place, not from these rights.
   */
  readonly rights?: Capability;
}

/** A change of a node that has not begun, or is paused. */
export type NodeChange = Pick<NodeSpec, 'prompt' | 'priority' | 'agent' | 'budget'> & { readonly goal?: string };

/** Selects nodes of a tree, in the order of their numbers. */
export interface NodePage {
  /** Only this node and those below it. */
  readonly under?: number;
  /** Begins behind the node with this number. */
  readonly after?: number;
  /** The length of the page; 100 when absent, 1,000 at most. */
  readonly limit?: number;
}

/** Selects the events of a tree. */
export interface TreeWatchOptions {
  /** Begins behind this frame: the `frame` of an event. */
  readonly after?: number;
  /** `false` ends with the events that are durable now; `true`, the default, continues with later ones. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** A question that is open. `route` are the nodes that are to answer now; people when it is empty. */
export interface OpenAsk extends Readonly<Pick<AskRow, 'asker' | 'options' | 'returns' | 'route'>> {
  readonly ask: number;
  readonly question: string;
  /** The option that counts when the time runs out. */
  readonly default?: string;
  /** When that is, in journal milliseconds. */
  readonly deadline?: number;
}

/** A launch of a node: one run of its session, with its prompt as it reads. */
export type NodeLaunch = Omit<NodeView['launches'][number], 'prompt'> & { readonly prompt: string };

/** A node with what stands around it. */
export interface NodeDetail extends NodeRow {
  readonly needs: readonly ({ readonly node: number } & Edge)[];
  readonly children: readonly number[];
  /** What it may do; absent when neither it nor a node above it was given rights. */
  readonly rights?: Capability;
  /** Its task; absent for a question and a serial. */
  readonly prompt?: string;
  /** Its result as it reads. */
  readonly given?: ReadResult;
  readonly launches: readonly NodeLaunch[];
  /** The questions that it asked and that have no outcome. */
  readonly openAsks: readonly OpenAsk[];
}
