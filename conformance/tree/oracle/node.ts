/** What the oracle knows of a node: no counters, no tables. */

/** The limits of a tree. */
export interface Terms {
  readonly nodes: number;
  readonly depth: number;
  readonly children: number;
  readonly parallel: number;
  readonly generations: number;
  readonly attempts: number;
  readonly asks: number;
}

/** What may be used: by a node for which nothing else is stated, and by all together; null without a bound. */
export interface Purse {
  readonly unit: 'tokens' | 'micro_money';
  readonly node: number | null;
  readonly tree: number | null;
  /** Whether the budget of a node was stated: then use that was not reported counts as all that was set aside. */
  readonly stated: boolean;
}

/** What a run used; `isKnown` is false when it may be more. */
export interface Use {
  readonly amount: number;
  readonly isKnown: boolean;
}

/** A need: another node, and whether its failure fails the node that needs it. */
export interface Needed {
  readonly on: number;
  readonly block: boolean;
}

/** A child that is to be made. */
export interface Child {
  readonly type: 'spawn' | 'fork';
  readonly needs: readonly Needed[];
  readonly priority: number;
  readonly budget?: number;
}

/** The target of a question. */
export type AskedOf = 'human' | 'parent' | 'children' | number;

/** How a run ended. */
export type RunEnd = 'completed' | 'failed' | 'max_cost' | 'timeout' | 'limit' | 'cancelled';

/** The code of a node whose run ended so, where the run gives none itself. */
export const CODES = {
  completed: 'no_result',
  failed: 'boom',
  max_cost: 'max_cost',
  timeout: 'timeout',
  limit: 'limit/max_steps',
  cancelled: 'cancelled',
};

/** The name of a node as one that acts. People and programs have the names that the events state. */
export const nameOfNode = (n: number): string => `node ${n}`;

/** A question, beside its node. */
export interface Question {
  readonly asker: number;
  readonly of: AskedOf;
  readonly deadline: number | null;
  readonly options: readonly string[];
  readonly preset: number | null;
  /** The nodes whose answers are awaited; people when it is empty. */
  route: number[];
  /** The nodes of the route that have read it. */
  readonly told: Set<number>;
  readonly answers: Set<number>;
  /** Whether a call of the asker waits for it. */
  parked: boolean;
  how: 'answered' | 'default' | 'timed_out' | 'cancelled' | null;
  /** Who answered, each by a name; empty when nobody did. */
  by: readonly string[];
}

/** A node, as the oracle sees it. */
export class Node {
  status: 'pending' | 'active' | 'waiting_children' | 'waiting_input' | 'complete' | 'failed' | 'cancelled' = 'pending';
  code: string | null = null;
  /** Who stopped it, by a name; null for one that was not stopped. */
  stoppedBy: string | null = null;
  run: 'none' | 'composing' | 'live' | 'waiting' | 'checking' | 'draining' = 'none';
  phase: 'work' | 'synthesis' | 'repair' = 'work';
  paused = false;
  answering = false;
  gen = 0;
  attempt = 1;
  wrong = 0;
  launch = 0;
  /** Whether its needs count: it has not begun, or is tried again and they have not ended since. */
  isNew = true;
  /** What its run gave: a checked result, one that nobody has looked at, or nothing but its children. */
  draft: 'checked' | 'unchecked' | 'empty' | null = null;
  /** The children made since it last began to work or to synthesize, without those that it stopped itself. */
  since = 0;
  /** The checks of results that calls of `complete` wait for. */
  readonly checks = new Set<string>();
  question: Question | null = null;
  /** The questions that stand in the prompt which is being composed. */
  reads: readonly number[] = [];
  /** Its sessions so far, and the inputs that the last of them has had. */
  sessions = 0;
  inputs = 0;
  fresh = false;
  /** Of a serial: whether its result is the list of all. */
  list = false;
  agent = '';
  /** What it may use in all, has used, and has set aside for its run. */
  budget: number | null = null;
  spent = 0;
  reserved = 0;

  constructor(
    readonly n: number,
    readonly type: 'goal' | 'spawn' | 'fork' | 'serial' | 'ask',
    readonly parent: Node | null,
    readonly needs: readonly Needed[],
    public priority: number,
  ) {}

  get depth(): number {
    return this.parent === null ? 1 : this.parent.depth + 1;
  }

  get ended(): boolean {
    return this.status === 'complete' || this.status === 'failed' || this.status === 'cancelled';
  }

  /** Whether it holds a slot. */
  get slot(): boolean {
    return this.run === 'composing' || this.run === 'live' || this.run === 'draining';
  }

  /** Whether it or a node above it is paused. */
  get held(): boolean {
    return this.paused || (this.parent?.held ?? false);
  }
}

/** The verdict on a step: undefined when it is accepted, else the codes of which one refuses it. */
export type Verdict = readonly string[] | undefined;
