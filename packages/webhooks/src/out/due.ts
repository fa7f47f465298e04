/**
 * Which frames hold something that a receiver is told: a table from records to notices. It reads ids, statuses and codes, and
 * nothing that was said.
 */
import { type LIFECYCLES, runId } from '@reprise/agent';
import type { Address, DerivedOf, JournalRecord } from '@reprise/contracts';
import type { World, WorldFrame } from '@reprise/kernel';
import { type Notice, type NoticeData, type NoticeType, OUTBOX, type Topic } from '../pure/index.js';

const SESSION = 'aos.agent/SessionReducer@1';

/** The effect of asking a person. Programs settle all other effects that are deferred. */
const ASK = 'human.ask@1';

/** The topic of each type of notice. */
export const TOPIC_OF: Readonly<Record<NoticeType, Topic>> = {
  'item.waiting': 'waiting',
  'run.ended': 'ended',
  'run.failed': 'failed',
  'tree.ended': 'ended',
  'tree.failed': 'failed',
  'project.ended': 'ended',
  'swarm.ended': 'ended',
  'swarm.failed': 'failed',
  'cell.failed': 'failed',
};

/** What a record says, without its place. */
interface Said {
  readonly type: NoticeType;
  readonly cell: Address;
  readonly data?: Partial<NoticeData>;
}

/** An effect that may wait for a person. */
interface Asked {
  readonly cell: Address;
  readonly name: string;
  readonly tool: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Finds notices in frames, in order. */
export class Notices {
  readonly #open = new Map<string, Asked>();

  /** @param open the effects that are open where reading begins */
  constructor(
    private readonly world: string,
    open: Awaited<ReturnType<World['openEffects']>>,
  ) {
    for (const { effect, name, cell } of open) this.#open.set(effect, { cell, name, tool: undefined });
  }

  /** The notices of the next frame. */
  in({ seq, at, records }: WorldFrame): readonly Notice[] {
    return records.flatMap((record, i) => {
      const said = this.#said(record);
      if (said === undefined || said.cell[0] === OUTBOX) return [];
      const { type, cell } = said;
      const session = cell[0] === SESSION ? { session_id: cell[1] } : {};
      const data: NoticeData = {
        world_id: this.world,
        event_seq: `${seq}.${i}`,
        cell: [...cell],
        ...session,
        ...said.data,
      };
      return [{ record: i, type, at, data }];
    });
  }

  #said(record: JournalRecord): Said | undefined {
    switch (record.kind) {
      case 'fact':
        return record.from === null
          ? undefined
          : FACTS[record.name]?.([record.from[0], record.from[1]], record.value as Fields);
      case 'effect':
        return this.#emitted(record);
      case 'deferred': {
        const asked = this.#open.get(record.effect);
        return asked?.name === ASK ? waiting(record.effect, asked, 'question') : undefined;
      }
      case 'ask': {
        const asked = this.#open.get(record.effect);
        return asked && waiting(`${record.effect}.${record.n}`, asked, 'question');
      }
      case 'receipt':
      case 'settled':
        this.#open.delete(record.effect);
        return undefined;
      case 'fault':
        return record.target.length === 2
          ? { type: 'cell.failed', cell: record.target, data: { code: record.code } }
          : undefined;
      default:
        return undefined;
    }
  }

  #emitted({ effect, plan, name, params, approval }: DerivedOf<'effect'>): Said | undefined {
    const { tool } = params as Fields;
    const asked: Asked = { cell: [plan[0], plan[1]], name, tool: typeof tool === 'string' ? tool : undefined };
    this.#open.set(effect, asked);
    return approval === undefined ? undefined : waiting(effect, asked, 'approval');
  }
}

function waiting(item: string, { cell, tool }: Asked, kind: 'approval' | 'question'): Said {
  return {
    type: 'item.waiting',
    cell,
    data: { item_id: item, item_kind: kind, ...(tool === undefined ? {} : { tool }) },
  };
}

type Reads = (cell: Address, value: Fields) => Said | undefined;

/** What each fact says. Packages that organizations are in are not loaded for their names; a test compares these. */
const FACTS: Readonly<Record<string, Reads>> = {
  'aos.agent/LifecycleChanged@1': (cell, { run, to, stop }) => {
    const type = RUN_ENDS[String(to)];
    if (type === undefined) return undefined;
    const { code, limit } = (stop ?? {}) as { readonly code?: string; readonly limit?: string };
    const why = code ?? (limit === undefined ? undefined : `limit_${limit}`);
    return {
      ...{ type, cell },
      data: { run_id: runId(cell[1], Number(run)), ...said(String(to), why) },
    };
  },
  // A run that never started, because its input was dropped before its turn came.
  'aos.agent/InputDropped@1': (cell, { run, turn }) =>
    turn === true
      ? undefined
      : { type: 'run.ended', cell, data: { run_id: runId(cell[1], Number(run)), status: 'cancelled' } },
  'tree/Ended@1': (cell, { status, code }) => ended('tree', cell, status, code, ['failed']),
  'specialists/ProjectChanged@1': (cell, { status }) =>
    ['done', 'cancelled'].includes(String(status)) ? { type: 'project.ended', cell, data: said(status) } : undefined,
  'society/SwarmChanged@1': (cell, { status, code }) =>
    ['archived', 'disbanded', 'failed'].includes(String(status))
      ? ended('swarm', cell, status, code, ['failed'])
      : undefined,
};

const RUN_ENDS: Readonly<Partial<Record<string, NoticeType>>> = {
  Completed: 'run.ended',
  Cancelled: 'run.ended',
  Failed: 'run.failed',
} satisfies Partial<Record<(typeof LIFECYCLES)[number], NoticeType>>;

function ended(of: 'tree' | 'swarm', cell: Address, status: unknown, code: unknown, failures: readonly string[]): Said {
  return { type: failures.includes(String(status)) ? `${of}.failed` : `${of}.ended`, cell, data: said(status, code) };
}

function said(status: unknown, code?: unknown): Pick<NoticeData, 'status' | 'code'> {
  const why = typeof code === 'string' && code !== '' ? { code } : {};
  return { status: String(status).toLowerCase(), ...why };
}
