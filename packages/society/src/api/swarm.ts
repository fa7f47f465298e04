/** A swarm as an app uses it. This object stores nothing: it reads everything from the journal. */
import { type AgentWorld, type Duration, durationMs } from '@reprise/agent';
import { type Address, isRef, present, type Ref, RepriseError } from '@reprise/contracts';
import type { SwarmStatus as Standing, SwarmState } from '../pure/index.js';
import { SWARM_ROWS, swarmAt } from '../pure/index.js';
import type { ToolAnswer } from '../wire/index.js';
import type { EntityCaller } from './caller.js';
import type { SocietyBy } from './requests.js';

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
  async revive(by: SocietyBy = {}): Promise<void> {
    await this.host.world.revive(this, by);
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
  events(): AsyncGenerator<SwarmEvent> {
    return this.#events(undefined);
  }

  async *#events(signal: AbortSignal | undefined): AsyncGenerator<SwarmEvent> {
    for await (const { seq, records } of this.host.world.kernel.frames(0, signal, [this.address])) {
      for (const record of records) {
        if (record.kind !== 'fact' || record.from?.[0] !== this.address[0] || record.from[1] !== this.id) continue;
        const event = eventOf(seq, record.name, record.value as never);
        if (event === undefined) continue;
        yield event;
        if (event.type === 'changed' && OVER.includes(event.status)) return;
      }
    }
  }

  /**
   * Waits until it is over, or until `within` has passed.
   *
   * @returns how far it is then
   * @throws RepriseError `cell_failed` when its cell, or that of its creator, has failed
   */
  async ended({ within }: { readonly within?: Duration } = {}): Promise<SwarmReport> {
    const limit = new AbortController();
    const timer =
      within === undefined ? undefined : setTimeout(() => limit.abort(), durationMs(within, 'ended within'));
    try {
      if (!OVER.includes((await this.#state()).status)) await this.#over(limit.signal);
    } finally {
      clearTimeout(timer);
    }
    return this.status();
  }

  /** Ends it: its agents are deactivated, its group is archived, or deleted. A second time changes nothing. */
  async disband(mode: 'archive' | 'delete' = 'archive', by: SocietyBy = {}): Promise<SwarmReport> {
    const caller = await this.#creator();
    await caller.use('swarm_disband', { swarm_id: this.id, mode }, by);
    return this.status();
  }

  async #over(signal: AbortSignal): Promise<void> {
    for await (const event of this.#events(signal)) if (event.type === 'changed' && OVER.includes(event.status)) return;
    if (!signal.aborted) throw this.host.world.kernel.closedBy ?? new Error('the world was closed');
  }

  async #creator(): Promise<Pick<EntityCaller, 'use'>> {
    return this.host.caller((await this.#state()).creator);
  }

  async #state(): Promise<SwarmState> {
    const state = await this.host.world.kernel.state(this.address);
    if (state !== undefined) return state as unknown as SwarmState;
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

function eventOf(
  seq: number,
  name: string,
  value: {
    readonly status: string;
    readonly code: string | null;
    readonly task: number;
    readonly agent_id: string;
    readonly result: Ref | null;
  },
): SwarmEvent | undefined {
  const { status, code, task, agent_id, result } = value;
  if (name === 'society/SwarmChanged@1') return { type: 'changed', seq, status: status as Standing, code };
  if (name !== 'society/TaskCompleted@1') return undefined;
  return { type: 'task_complete', seq, task, agent_id, status, result: isRef(result) ? result.toString() : null };
}
