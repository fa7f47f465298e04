/** Random calls of random nodes, against a table of what a node may do by its place in the tree. */
import { ownerAnswer } from '@reprise/agent/contracts';
import { Ref } from '@reprise/contracts';
import type { ReducerDefinition } from '@reprise/kernel';
import { randomFrom } from '../random.js';
import { valueAs } from '../staged-values.js';
import { grown } from './play.js';
import type { Stage } from './stage.js';

/** A node as the tree stores it. */
interface Row {
  readonly n: number;
  readonly type: string;
  readonly parent: number | null;
  readonly status: string;
  readonly run: string;
  readonly depth: number;
  readonly gen: number;
  readonly since: number;
  readonly answering: boolean;
  readonly session: string | null;
}

/** A question as the tree stores it. */
interface Ask {
  readonly route: readonly number[];
  readonly options: readonly string[];
  readonly outcome: unknown;
}

/** A call: the node that makes it, the tool, the node or question that it names. */
interface Call {
  readonly by: number;
  readonly session: string;
  /** Whether it names another session as its own: of another node, or an earlier or later one of the same node. */
  readonly isForged: boolean;
  readonly tool: string;
  readonly of: number;
  /** The option that an answer picks. */
  readonly picked: string | null;
}

/** The tree before a call. */
interface Before {
  readonly rows: ReadonlyMap<number, Row>;
  readonly asks: ReadonlyMap<number, Ask>;
  readonly limits: {
    readonly depth: number;
    readonly generations: number;
    readonly children: number;
    readonly nodes: number;
  };
}

const hasEnded = ({ status }: Row): boolean => ['complete', 'failed', 'cancelled'].includes(status);

function isBelow(rows: ReadonlyMap<number, Row>, n: number, above: number): boolean {
  const parent = rows.get(n)?.parent ?? null;
  return parent !== null && (parent === above || isBelow(rows, parent, above));
}

/** Whether a child of a node may be made now. */
function mayMake({ rows, limits }: Before, row: Row): boolean {
  const { depth, gen, since } = row;
  return depth < limits.depth && gen < limits.generations && since < limits.children && rows.size < limits.nodes;
}

/** Whether an answer picks one of the options, where the question has some. */
function fits({ options }: Ask, picked: string | null): boolean {
  return options.length === 0 || (picked !== null && options.includes(picked));
}

/**
 * The table: by the tool, whether the calling node may do it. All but reading needs a run that is under way; a call that
 * names another session than its sender is refused whatever it asks for.
 */
const MAY: Readonly<Record<string, (before: Before, row: Row, of: number, picked: string | null) => boolean>> = {
  read_tree: ({ rows }, _, of) => rows.has(of),
  read_node: ({ rows }, _, of) => rows.has(of),
  spawn: (before, row) => mayMake(before, row),
  fork: (before, row) => mayMake(before, row),
  complete: (_, row) => !row.answering,
  stop: ({ rows }, row, of) => {
    const target = rows.get(of);
    return target !== undefined && isBelow(rows, of, row.n) && !hasEnded(target);
  },
  answer: ({ asks }, row, of, picked) => {
    const ask = asks.get(of);
    return ask !== undefined && ask.outcome === null && ask.route.includes(row.n) && fits(ask, picked);
  },
  no_such_tool: () => false,
};

function isAllowed(before: Before, { by, session, isForged, tool, of, picked }: Call): boolean {
  const row = before.rows.get(by);
  if (row === undefined) return false;
  const isReading = tool.startsWith('read_');
  const isAtWork = row.session === session && !hasEnded(row) && (row.run === 'live' || row.run === 'waiting');
  return !isForged && (isReading || isAtWork) && MAY[tool]?.(before, row, of, picked) === true;
}

/** What the calls came to. */
export interface Authority {
  readonly allowed: number;
  readonly refused: number;
  /** The calls of which the tree says otherwise than the table. */
  readonly differences: readonly string[];
}

/** What answers pick in turn: the stage's questions with options have `a` and `b`. */
const PICKS = [null, 'a', 'b', 'neither'];

const TEXT = Ref.fromHex('ab'.repeat(32));

/** Makes random calls in random trees. Every third names any session of the tree as its own. */
export function tryCalls(reducer: ReducerDefinition, total: number, seed: number): Authority {
  const random = randomFrom(seed);
  const upTo = (max: number): number => Math.floor(random() * max);
  const sum = { allowed: 0, refused: 0 };
  const differences: string[] = [];
  let stage = grown(reducer, seed);
  for (let i = 0; i < total; i++) {
    if (i % 40 === 0) stage = grown(reducer, seed + i);
    const sessions = [...stage.sessions.keys()];
    const session = sessions[upTo(sessions.length)] ?? '';
    const forged = i % 3 === 0 ? (sessions[upTo(sessions.length)] ?? '') : session;
    const before = readTree(stage);
    const tools = Object.keys(MAY);
    const call: Call = {
      by: Number(/\/(\d+)/.exec(session)?.[1]),
      session,
      isForged: forged !== session,
      tool: tools[upTo(tools.length)] ?? '',
      of: 1 + upTo(before.rows.size + 1),
      picked: PICKS[i % PICKS.length] ?? null,
    };
    const wanted = isAllowed(before, call);
    const found = makeCall(stage, session, forged, call, i);
    sum[wanted ? 'allowed' : 'refused']++;
    if (found !== wanted)
      differences.push(`#${call.by} calls ${call.tool} of #${call.of}: ${found ? 'accepted' : 'refused'}`);
  }
  return { ...sum, differences };
}

function readTree(stage: Stage): Before {
  const entries = <T>(table: string) =>
    stage.table(table).keys.map((key) => [Number(key), stage.table(table).get(key) as T] as const);
  return { rows: new Map(entries<Row>('nodes')), asks: new Map(entries<Ask>('asks')), limits: stage.state.limits };
}

/** Makes a call as a session. @returns whether the tree took it */
function makeCall(stage: Stage, sender: string, session: string, { tool, of, picked }: Call, i: number): boolean {
  const args = {
    read_tree: { root: of },
    read_node: { node_id: of },
    spawn: { goal: 'g', prompt_ref: TEXT },
    fork: { goal: 'g', prompt_ref: TEXT },
    complete: { value_ref: TEXT },
    stop: { node_id: of },
    answer: { ask_id: of, text_ref: TEXT, picked },
  }[tool];
  const value = { session, call_id: `a${i}`, step_epoch: 0, name: tool, args: args ?? {} };
  const event = { name: 'aos.agent/OwnerCall@1', value };
  const delivered = stage.send(event, ['aos.agent/SessionReducer@1', sender]);
  if (delivered === undefined || delivered.rejected !== undefined) return false;
  const answer = delivered.answers
    .map((one) => valueAs(one, [{ 'aos.agent/OwnerAnswer@1': ownerAnswer }, 'aos.agent/OwnerAnswer@1']))
    .find((one) => one?.call_id === value.call_id);
  return answer === undefined || answer.is_error === false;
}
