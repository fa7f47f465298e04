/**
 * What `reprise tree show --json` says of random trees at random places, beside the tables of their cells. What it must say is
 * written here from the tables alone.
 */
import { isRef } from '@reprise/contracts';
import type { ReducerDefinition } from '@reprise/kernel/define';
import { type AskRow, type NodeRow, TREE, TreeFold } from '@reprise/tree';
import fc from 'fast-check';
import { walk } from '../../../../conformance/tree/play.js';
import { schedules } from '../../../../conformance/tree/schedule.js';
import type { Delivered, Stage } from '../../../../conformance/tree/stage.js';
import { toJson } from '../../src/text/json.js';
import { treeJson } from '../../src/verbs/tree/show.js';
import type { Compared, Difference } from './histories.js';

/** How much is compared, and with which fold. */
interface CompareOptions {
  readonly places: number;
  readonly seed: number;
  readonly makeFold?: () => TreeFold;
}

/** Compares at each step of random trees, until there were so many places. */
export function compareTrees(
  reducer: ReducerDefinition,
  { places, seed, makeFold = () => new TreeFold() }: CompareOptions,
): Pick<Compared, 'places' | 'differences'> {
  const differences: Difference[] = [];
  let seen = 0;
  for (let i = 0; seen < places && differences.length === 0; i++) {
    const [schedule] = fc.sample(schedules(), { seed: seed + i, numRuns: 1 });
    if (schedule === undefined) continue;
    const folded = new Folded(makeFold());
    const look = (stage: Stage): void => {
      if (seen >= places || differences.length > 0) return;
      seen++;
      const [shown, stored] = [folded.shown(), storedIn(stage)];
      for (const at of new Set([...Object.keys(stored), ...Object.keys(shown)]))
        if (toJson(shown[at]) !== toJson(stored[at]))
          differences.push({ at: `seed ${seed + i}, ${at}`, shown: shown[at], stored: stored[at] });
    };
    walk(reducer, schedule, { look, hear: (delivered) => folded.hear(delivered) });
  }
  return { places: seen, differences };
}

type Said = Readonly<Record<string, unknown>>;

/** The view of one tree, folded as the frames come. */
class Folded {
  readonly #fold: TreeFold;
  #frame = 0;

  constructor(fold: TreeFold) {
    this.#fold = fold;
  }

  hear({ facts, rejected }: Delivered): void {
    const place = { frame: this.#frame, at: this.#frame++ };
    if (rejected !== undefined) return;
    for (const { name, value } of facts)
      this.#fold.take({ c: 0, kind: 'fact', from: [TREE, 't'], name, value } as never, place);
  }

  /** What the view says now, by what it is about. */
  shown(): Said {
    const tree = this.#fold.trees.get('t');
    if (tree === undefined) throw new Error('the view has no tree');
    const { nodes, asks, rights, ...head } = JSON.parse(toJson(treeJson(tree)));
    const { status, code, result, limits, budget, labels, spent, reserved, waits } = head;
    return sorted({
      ...{ tree: { status, code, result, limits, budget, labels, spent, reserved }, ended: head.ended !== null },
      ...Object.fromEntries(
        nodes.map((node: NodeRow & { needs: number[]; children: number[] }) => [`node ${node.n}`, nodeOf(node)]),
      ),
      ...Object.fromEntries(asks.map((ask: { ask: number }) => [`ask ${ask.ask}`, askOf(ask as never)])),
      ...{ rights, nodes: nodes.length, asks: asks.length },
      ...{ dependencies: dependencies(waits), questions: questions(waits), paused: paused(waits) },
      ready: ready(waits),
    });
  }
}

type Wait = {
  readonly kind: string;
  readonly node: number;
  readonly on?: number[];
  readonly ask?: number;
  readonly of?: number[];
};

const dependencies = (waits: readonly Wait[]) =>
  waits.flatMap(({ kind, node, on }) => (kind === 'dependency' ? [[node, on?.toSorted(byNumber)]] : []));
const questions = (waits: readonly Wait[]) =>
  waits
    .flatMap(({ kind, node, ask, of }) => (kind === 'question' ? [[node, ask, of]] : []))
    .toSorted(([, a], [, b]) => Number(a) - Number(b));
const paused = (waits: readonly Wait[]) => waits.flatMap(({ kind, node }) => (kind === 'pause' ? [node] : []));

const ready = (waits: readonly Wait[]) =>
  waits.flatMap(({ kind, node }) => (kind === 'budget' || kind === 'slot' ? [node] : []));

const byNumber = (a: number, b: number): number => a - b;

/** The fields of a node that the view and the table both have. */
const NODE_FIELDS = [
  ...['n', 'type', 'parent', 'goal', 'returns', 'agent', 'status', 'paused', 'phase', 'gen', 'attempt', 'launch'],
  ...['session', 'run', 'result', 'code', 'stopped_by', 'spent', 'budget'],
] as const;

function nodeOf(node: Said & { readonly needs: number[]; readonly children: number[] }): Said {
  const { needs, children, prompt } = node;
  return { ...fieldsOf(node), prompt, needs: needs.toSorted(byNumber), children: children.toSorted(byNumber) };
}

function fieldsOf(row: Said): Said {
  return Object.fromEntries(NODE_FIELDS.map((name) => [name, row[name]]));
}

function askOf({ asker, target, route, options, returns, deadline, outcome, ...ask }: AskRow & Said): Said {
  return { asker, target, route, options, returns, deadline, outcome, default: ask.default };
}

/** What the tables say, in the form of JSON. */
function storedIn(stage: Stage): Said {
  const { status, limits, budget, labels, spent, reserved, ended } = stage.state;
  const rows = all<NodeRow>(stage, 'nodes');
  const asks = all<AskRow>(stage, 'asks').map(
    ([at, { default: chosen, ...row }]) =>
      [
        `ask ${Number(at)}`,
        askOf({ ...row, default: chosen === null ? null : (row.options[chosen] ?? null) } as never),
      ] as const,
  );
  const [root] = rows.map(([, row]) => row);
  const of = (table: string, n: number) =>
    keysOf(stage, table).flatMap((pair) => {
      const [first, second] = pair.split('.').map(Number);
      return first === n && second !== undefined ? [second] : [];
    });
  const rowAt = (n: number) => rows.find(([, row]) => row.n === n)?.[1];
  const isEnded = (n: number) => ['complete', 'failed', 'cancelled'].includes(rowAt(n)?.status ?? '');
  const isHeld = (n: number | null): boolean =>
    n !== null && (rowAt(n)?.paused === true || isHeld(rowAt(n)?.parent ?? null));
  const said = {
    ...{
      tree: {
        status,
        code: ended === null ? null : root?.code,
        result: ended === null ? null : root?.result,
        limits,
        budget,
        labels,
        spent,
        reserved,
      },
    },
    ...{ ended: ended !== null },
    ...Object.fromEntries(
      rows.map(([, row]) => [
        `node ${row.n}`,
        {
          ...fieldsOf(row as never),
          prompt: row.prompt_ref,
          needs: of('needs', row.n),
          children: of('children', row.n),
        },
      ]),
    ),
    ...Object.fromEntries(asks),
    ...{
      rights: Object.fromEntries(all(stage, 'rights').map(([at, rights]) => [Number(at), rights])),
      nodes: rows.length,
      asks: asks.length,
    },
    dependencies: rows.flatMap(([, { n, status, run }]) => {
      const on = status === 'pending' && run === 'none' ? of('needs', n).filter((need) => !isEnded(need)) : [];
      return on.length === 0 ? [] : [[n, on]];
    }),
    questions: all<AskRow>(stage, 'asks').flatMap(([at, { asker, outcome, route }]) =>
      outcome === null && !isEnded(asker) ? [[asker, Number(at), route]] : [],
    ),
    // What stands in line behind a delivery waits for a slot or for budget, if no pause holds it.
    ready: all<number>(stage, 'ready')
      .map(([, n]) => n)
      .filter((n) => {
        const row = rowAt(n);
        return row?.status === 'pending' && row.unmet === 0 && row.run === 'none' && !isHeld(n);
      })
      .toSorted(byNumber),
    paused: rows.flatMap(([, { n, paused }]) => (paused && !isEnded(n) ? [n] : [])),
  };
  return JSON.parse(toJson(sorted(said)));
}

function keysOf(stage: Stage, table: string): readonly string[] {
  return stage.table(table).keys;
}

function all<T>(stage: Stage, table: string): readonly (readonly [string, T])[] {
  return keysOf(stage, table).map((key) => [key, stage.table(table).get(key) as T] as const);
}

/** Values with the fields of their objects in order. */
function sorted<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sorted) as T;
  if (typeof value !== 'object' || value === null || isRef(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  ) as T;
}
