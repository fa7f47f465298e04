/** `reprise trust`: how far people and agents of a society trust each other, and the verdicts that moved it. */
import { present } from '@reprise/contracts';
import { shortKey } from '@reprise/operators/names';
import { type TrustPair, type TrustReport, trustOf } from '@reprise/operators/society';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { timeOf } from '../../text/record-line.js';
import { withWorld } from '../../world/open.js';

interface TrustArguments {
  readonly at?: number;
  readonly limit?: number;
  readonly after?: string;
  readonly json?: true;
}

/** Prints the trust of each judge in each author. */
export async function trust(io: Io, world: string, options: TrustArguments): Promise<void> {
  const { at, limit, after, json } = options;
  const report = await withWorld(world, (store) => trustOf(store, present({ at, limit, after })));
  await io.out.write(json === true ? `${toJson(report)}\n` : textOf(report, world, io.out.columns));
}

function textOf({ frame, pairs, next }: TrustReport, world: string, columns: number | undefined): string {
  const told = nameIn(pairs);
  const lines = [
    pairs.length === 0
      ? `${world}: nobody has judged the work of another one, after frame ${frame}`
      : `${world}: ${counted(pairs.length, 'pair')} of a judge and an author, after frame ${frame}`,
    ...pairs.flatMap((pair) => linesOf(pair, told)),
    ...(next === null ? [] : ['There are more pairs: --json has the cursor for --after.']),
  ].map((line) => escapeLine(shortKey(line)));
  return lines.map((line) => `${columns === undefined ? line : wrapToColumns(line, columns, 4)}\n`).join('');
}

type Named = TrustPair['agent'];

function linesOf({ observer, agent, score_ppm, observations, tier, changes }: TrustPair, told: (of: Named) => string) {
  const count = observations === 0 ? 'no verdict that counts' : counted(observations, 'verdict');
  return [
    `${told(observer)} trusts ${told(agent)}: ${score(score_ppm)}, ${tier}, by ${count}`,
    ...changes.map((change) => `  ${changeOf(change)}`),
  ];
}

function changeOf({
  frame,
  at,
  item,
  verdict,
  basis,
  by,
  trust: { old_ppm, ppm },
}: TrustPair['changes'][number]): string {
  const how = basis === null ? '' : `, by ${basis.replace('_', ' ')}`;
  const whose = by === null ? '' : ` (${by})`;
  const said = verdict === 'retract' ? 'took back its verdict' : verdict;
  return `frame ${frame} (${timeOf(at)}): ${said}${whose} on ${item}${how}: ${score(old_ppm)} -> ${score(ppm)}`;
}

const DIGITS = 4;

/** Names people and agents; those that share a name by the beginning of their ids as well. */
function nameIn(pairs: readonly TrustPair[]): (of: Named) => string {
  const ids = new Map<string, Set<string>>();
  for (const { id, name } of pairs.flatMap(({ observer, agent }) => [observer, agent]))
    ids.set(name, (ids.get(name) ?? new Set()).add(id));
  return ({ id, name }) => ((ids.get(name)?.size ?? 0) > 1 ? `${name}·${id.slice(0, DIGITS)}` : name);
}

/** A score as a share of one, as `reprise memory` prints it. */
function score(ppm: number): string {
  return (ppm / 1_000_000).toFixed(2);
}

function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
