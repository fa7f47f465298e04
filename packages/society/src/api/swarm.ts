/** A swarm as an app uses it. This object stores nothing: it reads everything from the journal. */
import type { AgentWorld, Duration } from '@reprise/agent';
import { type Address, present, RepriseError, requireKnownOptions } from '@reprise/contracts';
import type { Trouble } from '@reprise/kernel';
import { type FactRecord, factIn, isFactOf, until } from '@reprise/org';
import {
  type SwarmStatus as Standing,
  SWARM_ROWS,
  type SwarmState,
  swarmAt,
  swarmFacts,
  swarmReducer,
} from '../pure/index.js';
import type { ToolAnswer } from '../wire/index.js';
import type { EntityCaller } from './caller.js';
import { type By, societyCell } from './requests.js';
import { cellsOfSwarm, troublesOfSwarm } from './troubles.js';

/** How far a swarm is. */
export type SwarmReport = Omit<ToolAnswer<'swarm_status'>, 'synthesis' | 'next'> & {
  /** The text that the swarm ended with. */
  readonly synthesis?: string;
};

/** An event of a swarm. */
export type SwarmEvent =
  | { readonly type: 'changed'; readonly seq: number; readonly status: Standing; readonly code: string | null }
  | {
      readonly type: 'task_complete';
      readonly seq: number;
      readonly task: number;
      readonly agent_id: string;
      readonly status: string;
      readonly result: string | null;
    };

/** What the handle of a swarm needs: the entity that created it calls for it. */
export interface SwarmHost {
  readonly world: AgentWorld;
  caller(entity: string): Pick<EntityCaller, 'use'>;
}

/** Shows how far a swarm is, follows it, and ends it. */
export class SwarmHandle {
  /** The cell of the swarm. */
  readonly address: Address;

  constructor(
    private readonly host: SwarmHost,
    readonly id: string,
  ) {
    this.address = swarmAt(id);
  }

  /**
   * Brings the swarm back after its cell has failed, with the state before the fault. See `World.revive`.
   *
   * @throws RepriseError `cell_absent`, and the refusals of the kernel
   */
  async revive(by: By = {}): Promise<void> {
    await this.host.world.revive(this, by);
  }

  /**
   * The troubles that keep the swarm from going on: of the store, of a cell of it or of its agents, of a service that they wait
   * for. See `World.trouble`.
   *
   * @throws RepriseError `world_closed`
   */
  trouble(): Promise<readonly Trouble[]> {
    return troublesOfSwarm(this.host.world, this.id);
  }

  /**
   * How far it is, and what its agents have found: all agents and all results, each with the beginning of its words.
   *
   * @throws RepriseError `invalid_argument` for a swarm that does not exist; `request_rejected` where its creator may not
   *   ask any more
   */
  async status(): Promise<SwarmReport> {
    const caller = await this.#creator();
    const first = await caller.use('swarm_status', { swarm_id: this.id, limit: SWARM_ROWS.max });
    const { synthesis, next, ...report } = first;
    const agents = [...report.agents];
    const results = [...report.results];
    for (let after = next; after !== undefined; ) {
      const page = await caller.use('swarm_status', { swarm_id: this.id, after, limit: SWARM_ROWS.max });
      agents.push(...page.agents);
      results.push(...page.results);
      after = page.next;
    }
    return { ...report, agents, results, ...present({ synthesis: synthesis?.text ?? undefined }) };
  }

  /**
   * The whole words of one result.
   *
   * @param task the number of the task, as a status names it
   * @returns null where they were erased, and for a task without words
   * @throws RepriseError `request_rejected` with `no_task` as its reason
   */
  async result(task: number): Promise<string | null> {
    const caller = await this.#creator();
    let words = '';
    let from = 0;
    for (let isLast = false; !isLast; ) {
      const { results } = await caller.use('swarm_status', { swarm_id: this.id, task, from });
      const summary = results[0]?.summary ?? null;
      if (summary === null) return null;
      words += summary;
      isLast = results[0]?.next_from === undefined;
      from = results[0]?.next_from ?? from;
    }
    return words;
  }

  /** Its changes and the ends of its tasks, from the beginning; ends with the swarm, or with `cell_failed`. */
  async *events(): AsyncGenerator<SwarmEvent> {
    for await (const { seq, records } of this.host.world.kernel.frames(0, undefined, [this.address])) {
      for (const record of records) {
        const event = isFactOf(record, this.address) ? eventOf(seq, record) : undefined;
        if (event === undefined) continue;
        yield event;
        if (event.type === 'changed' && OVER.includes(event.status)) return;
      }
    }
  }

  /**
   * Waits until it is over, or until `within` has passed, by the clock of the world.
   *
   * @returns how far it is then
   * @throws RepriseError `cell_failed` when its cell, or that of its creator, has failed; `waits_for_itself` in a tool of one
   *   of its agents, without `within`
   */
  async ended(options: { readonly within?: Duration } = {}): Promise<SwarmReport> {
    requireKnownOptions(options, { within: true }, 'swarm.ended');
    const cell = societyCell(this.host.world.kernel, this.address);
    await until(cell, {
      look: async () => (OVER.includes((await this.#state()).status) ? true : undefined),
      after: 'society/SwarmChanged@1',
      waitsFor: async (at) => (await cellsOfSwarm(this.host.world, this.id))(at),
      within: options.within,
    });
    return this.status();
  }

  /** Ends it: its agents are deactivated, its group is archived, or deleted. A second time changes nothing. */
  async disband(mode: 'archive' | 'delete' = 'archive', by: By = {}): Promise<SwarmReport> {
    const caller = await this.#creator();
    await caller.use('swarm_disband', { swarm_id: this.id, mode }, by);
    return this.status();
  }

  async #creator(): Promise<Pick<EntityCaller, 'use'>> {
    return this.host.caller((await this.#state()).creator);
  }

  async #state(): Promise<SwarmState> {
    const state = await this.host.world.kernel.state([swarmReducer, this.id]);
    if (state !== undefined) return state;
    throw new RepriseError('invalid_argument', `there is no swarm ${this.id}`, {
      where: 'swarm',
      expected: 'the id of a swarm that was created and not refused',
      actual: this.id,
    });
  }
}

/** A swarm that was just created. */
export class CreatedSwarm extends SwarmHandle {
  constructor(
    host: SwarmHost,
    id: string,
    /** The frame that took up its creation: a fork at it makes the swarm again. */
    readonly formedAt: number,
    /** The frame in which it had formed, its id, group and agents. */
    readonly created: ToolAnswer<'swarm_create'>,
  ) {
    super(host, id);
  }
}

const OVER: readonly Standing[] = ['archived', 'disbanded', 'failed'];

function eventOf(seq: number, fact: FactRecord): SwarmEvent | undefined {
  const changed = factIn(fact, [swarmFacts, 'society/SwarmChanged@1']);
  if (changed !== undefined) return { type: 'changed', seq, status: changed.status, code: changed.code };
  const completed = factIn(fact, [swarmFacts, 'society/TaskCompleted@1']);
  if (completed === undefined) return undefined;
  const { task, agent_id, status, result } = completed;
  return { type: 'task_complete', seq, task, agent_id, status, result: result === null ? null : result.toString() };
}
