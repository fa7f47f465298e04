/** `reprise rights`: what a holder may do, and what gave and narrowed it. */
import type { Capability, Principal } from '@reprise/contracts';
import { shortKey } from '@reprise/operators/names';
import { type RightsLink, type RightsReport, rightsAt } from '@reprise/operators/rights';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { timeOf } from '../../text/record-line.js';
import { requireApp } from '../../world/app.js';
import { withWorld } from '../../world/open.js';

interface RightsArguments {
  readonly at?: number;
  readonly app?: string;
  readonly legacy?: readonly string[];
  readonly json?: true;
}

/** Prints the rights of a holder. */
export async function rights(io: Io, world: string, holder: string, options: RightsArguments): Promise<void> {
  const { at, json } = options;
  const report = await withWorld(world, async (store) => {
    const apps = await requireApp(store, options);
    return rightsAt(store, apps, holder as Principal, at === undefined ? {} : { at }); // refused where it is not one
  });
  await io.out.write(json === true ? `${toJson(report)}\n` : textOf(report, io.out.columns));
}

function textOf({ frame, holder, exercise, grant, account, chain, broken }: RightsReport, columns?: number): string {
  const lines = [
    `${holder}, after frame ${frame}`,
    ...(broken
      ? ['  may do nothing: a cell above it has ended or was made anew']
      : [`  may: ${capabilityText(exercise)}`, `  may hand on: ${capabilityText(grant)}`]),
    ...(account === null ? [] : [`  account: ${account}`]),
    ...(chain.length === 0 ? ['nothing was set for it or for a cell above it'] : chain.flatMap(linesOfLink)),
  ].map((line) => escapeLine(shortKey(line)));
  return lines.map((line) => `${columns === undefined ? line : wrapToColumns(line, columns, 4)}\n`).join('');
}

function linesOfLink({ holder, name, exercise, grant, holds, approved, since }: RightsLink): readonly string[] {
  const set = since === null ? '' : `, set in frame ${since.frame} (${timeOf(since.at)}) by ${since.by}`;
  return [
    `${holder}${name === null ? '' : ` (${name})`}${set}`,
    ...(exercise === null ? [] : [`  its own: ${capabilityText(exercise)}`]),
    ...(grant === null ? [] : [`  to hand on: ${capabilityText(grant)}`]),
    ...holds.map(({ granter, hold }) => `  held to by ${granter}: ${capabilityText(hold)}`),
    ...approved.map(([kind, until]) => `  approved: ${kind}${until === null ? '' : ` until ${timeOf(until)}`}`),
  ];
}

/** A capability by its dimensions; what it does not name is not narrowed by it. */
function capabilityText(capability: Capability | null): string {
  if (capability === null) return 'everything';
  const { may, expires_at, max_parallel } = capability;
  const dimensions = Object.entries(may).map(([name, patterns]) => `${name}: ${patterns.join(', ') || 'nothing'}`);
  const ends = expires_at === undefined ? [] : [`until ${timeOf(expires_at)}`];
  const most = max_parallel === undefined ? [] : [`at most ${max_parallel} at once`];
  return [...dimensions, ...ends, ...most].join('; ') || 'everything';
}
