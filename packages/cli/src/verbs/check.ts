/** `reprise check`: reports what would happen if another app opened a world, before that app is deployed. */
import { type AgainstReport, checkAgainst, type EraChange } from '@reprise/kernel';
import { EXIT, type ExitCode } from '../process/exit.js';
import { asError, describeError } from '../process/failure.js';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { loadApp, loadApps } from '../world/app.js';
import { withWorld } from '../world/open.js';

interface CheckArguments {
  readonly against: string;
  readonly legacy?: readonly string[];
  readonly json?: true;
}

/** The most names of one kind that a line lists. */
const NAMED_MAX = 10;

/** Compares a world with an app and reports. @returns 1 when it would not open, or cells would fault */
export async function check(io: Io, world: string, options: CheckArguments): Promise<ExitCode> {
  const app = await loadApp(options.against, '--against');
  const legacy = await loadApps(options.legacy);
  const report = await withWorld(world, (store) => checkAgainst(store, app, { legacy }));
  await io.out.write(options.json === true ? asJson(report) : asText(world, options.against, report));
  return isFine(report) ? EXIT.ok : EXIT.finding;
}

function isFine({ verdict, unmigrated }: AgainstReport): boolean {
  return verdict !== 'refused' && verdict !== 'plans_in_flight' && unmigrated.cells === 0;
}

function asJson(report: AgainstReport): string {
  const { verdict, head, era, change, unmigrated, refusal } = report;
  const error = refusal === null ? null : asError(refusal);
  const digest = `sha256:${head.digest}`;
  return `${toJson({ ok: isFine(report), verdict, seq: head.seq, head: digest, era, change, unmigrated, error })}\n`;
}

function asText(world: string, module: string, report: AgainstReport): string {
  const { change, refusal, unmigrated } = report;
  const lines = [
    `${world} with ${module}: ${sentenceOf(report)}`,
    ...(change === null ? [] : linesOf(change)),
    ...(unmigrated.cells === 0 ? [] : [`does NOT migrate: ${cells(unmigrated.cells)}, whose next event would fault`]),
    ...unmigrated.first.map(({ cell, why }) => `  ${cell}: ${why}`),
    'nothing was written',
  ];
  const text = `${lines.map(escapeLine).join('\n')}\n`;
  return refusal === null ? text : `${text}${describeError(refusal)}`;
}

function sentenceOf({ verdict, head, era }: AgainstReport): string {
  switch (verdict) {
    case 'new':
      return 'the journal has no frame yet; its first era begins';
    case 'same':
      return `opens, and the era from frame ${era} continues`;
    case 'new_era':
      return `opens, and a new era begins after frame ${head.seq}`;
    case 'plans_in_flight':
      return "does NOT open while these plans run, unless with plansInFlight: 'cancel'";
    case 'refused':
      return 'does NOT open';
    default:
      return verdict satisfies never;
  }
}

function linesOf({ added, dropped, compatible, fitting, migrates, inFlight }: EraChange): string[] {
  return [
    ...(added.length === 0 ? [] : [`new: ${named(added)}`]),
    ...(dropped.length === 0 ? [] : [`gone: ${named(dropped)}`]),
    ...(compatible.length === 0 ? [] : [`changed, and the era replays to the same bytes: ${named(compatible)}`]),
    ...fitting.map(fittingLine),
    ...migrates.map((one) => `migrates to ${one.reducer}: ${cells(one.cells)}, each at its next event`),
    ...(inFlight.length === 0
      ? []
      : [`running: ${named(inFlight.map(({ plan, name }) => `${name} of ${plan[0]}/${plan[1]}`))}`]),
  ];
}

/** What a changed definition was held against. Which of its schemas changed is not recorded, so each is listed. */
function fittingLine({ definition, name, records }: EraChange['fitting'][number]): string {
  const what = name === definition ? 'receipt' : 'event';
  const of = name === definition ? `effect ${name}` : `event ${name} of ${definition}`;
  return `${of} changed: ${records} recorded ${what}${records === 1 ? ' fits' : 's fit'}`;
}

function cells(count: number): string {
  return count === 1 ? '1 cell' : `${count} cells`;
}

function named(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return [...names.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
