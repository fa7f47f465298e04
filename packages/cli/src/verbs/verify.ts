/** `reprise verify`: replays a world, or checks only its integrity. */

import { RepriseError } from '@reprise/contracts';
import type { VerifyProgress, VerifyReport } from '@reprise/kernel';
import { EXIT, type ExitCode } from '../process/exit.js';
import { asError, causesOf, reportFailure } from '../process/failure.js';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { verifyOpen } from '../verify/verify-file.js';
import { type Chosen, chooseApp } from '../world/app.js';
import { BUILT_IN_NAMES } from '../world/built-in.js';
import { withWorld } from '../world/open.js';
import { type Compared, compareRequests } from '../world/requests.js';

interface VerifyArguments {
  readonly app?: string;
  readonly legacy?: readonly string[];
  /** Replays eras with the code that their manifests link; apps are used only for the other eras. */
  readonly pureCode?: true;
  /** Folds every frame from bytes. */
  readonly thorough?: true;
  /** The head that the journal must have, as 64 hex digits. */
  readonly expect?: string;
  /** Frames that could not be replayed are no finding: their integrity is enough. */
  readonly integrity?: true;
  /** A module that rebuilds the requests of model calls. */
  readonly requests?: string;
  /** How many threads verify at once. */
  readonly workers?: number;
  readonly json?: true;
}

/**
 * Verifies a world and prints a report; rejects with the first error found.
 *
 * @returns 1 when frames could not be replayed, unless their integrity was all that was asked for
 */
export async function verify(io: Io, world: string, options: VerifyArguments): Promise<ExitCode> {
  return withWorld(world, async (store) => {
    const chosen = await chooseApp(store, options);
    const requests = options.requests === undefined ? undefined : await compareRequests(store, options.requests);
    const onProgress = io.err.isTTY && options.json !== true ? progressOn(io) : undefined;
    const how = { ...options, ...(onProgress === undefined ? {} : { onProgress }) };
    const report = await verifyOpen(store, world, chosen, how, (why) => void io.err.write(oneThread(why))).finally(
      () => (onProgress === undefined ? undefined : show(io, '')),
    );
    const finding = options.integrity === true ? undefined : unverifiedFrames(report);
    if (options.json === true) await io.out.write(asJson(report, { ...chosen, requests, finding }));
    else {
      await io.out.write(asText(world, report, { ...chosen, requests }, options));
      if (finding !== undefined) await reportFailure(io, finding, false);
    }
    return finding === undefined ? EXIT.ok : EXIT.finding;
  });
}

/** What was not replayed is no success: nobody has shown that it follows from the inputs. */
function unverifiedFrames({ unverified, frames, eras }: VerifyReport): RepriseError | undefined {
  if (unverified === 0) return undefined;
  const which = eras.filter(({ status }) => status === 'unverified').map(({ from, to }) => `${from} to ${to}`);
  return new RepriseError('era_unverified', 'no app at hand can replay some of the frames', {
    where: `frames ${which.join(', ')}`,
    expected: `${frames} replayed`,
    actual: `${frames - unverified} replayed, ${unverified} unverified`,
    hint: 'Name the apps of those eras: --app MODULE, --legacy MODULE. With --integrity, an unchanged file is enough.',
  });
}

function oneThread(why: RepriseError): string {
  const [first, ...causes] = causesOf(why.details.cause ?? why);
  const because = causes.map((words) => ` Caused by ${words}`).join('.');
  return `NOTE: verified in one thread, since no worker could begin: ${escapeLine(`${first}${because}`)}\n`;
}

/** A line that is written again and again on a terminal. */
function progressOn(io: Io): (progress: VerifyProgress) => void {
  return ({ frames, of, blobs }) => show(io, `${frames} of ${of} frames${blobs === 0 ? '' : `, ${blobs} blobs`}`);
}

function show(io: Io, text: string): void {
  void io.err.write(`\r\x1b[K${text}`).catch(() => undefined);
}

interface Judged extends Chosen {
  readonly requests: Compared | undefined;
  /** Why the verification is no success. */
  readonly finding: RepriseError | undefined;
}

function asJson(report: VerifyReport, { app, name, lacking, requests, finding }: Judged): string {
  const { replayed, unverified, eras, frames, records, blobs, erased, returned, head } = report;
  const used = app === undefined ? null : name;
  const digest = `sha256:${head.digest}`;
  const verdict = finding === undefined ? { ok: true } : { ok: false, error: asError(finding) };
  return `${toJson({ ...verdict, app: used, lacking, replayed, unverified, eras, frames, records, blobs, erased, returned, head: digest, seq: head.seq, ...(requests === undefined ? {} : { requests }) })}\n`;
}

function asText(
  world: string,
  report: VerifyReport,
  chosen: Chosen & { readonly requests: Compared | undefined },
  { expect, pureCode }: VerifyArguments,
): string {
  const { replayed, unverified, eras, frames, records, blobs, erased, returned, head } = report;
  const lines = [
    `${world}: ${headline(report)}`,
    'checked: the hash chain, the shape of every record, all content and links',
    ...judged(world, chosen, report),
    ...(pureCode === true && report.eras.every(({ code }) => code === undefined)
      ? ['no era has its code in the file']
      : []),
    ...(expect === undefined ? [] : ['the expected head is in the journal']),
    ...(chosen.requests === undefined ? [] : [requestsLine(chosen.requests)]),
    `replayed ${replayed}, unverified ${unverified}`,
    ...(eras.length === 1 ? [] : eras.map(({ from, to, status }) => `era ${from} to ${to}: ${status}`)),
    `${frames} frames, ${records} records, ${blobs} blobs`,
    ...(erased === 0 ? [] : [`erased ${erased}: a tombstone in the journal accounts for each`]),
    ...(returned === 0
      ? []
      : [`NOTE: ${returned} erased blobs are in the store again: stored again later, or restored from a copy`]),
    `head sha256:${head.digest}`,
  ];
  return `${lines.map(escapeLine).join('\n')}\n`;
}

function requestsLine({ equal, uncompared }: Compared): string {
  const left = uncompared === 0 ? '' : `; ${uncompared} NOT compared`;
  return `the requests of ${equal} model calls equal the bytes that were sent${left}`;
}

function headline({ replayed, unverified }: VerifyReport): string {
  if (replayed === 0) return 'intact, not replayed';
  return unverified === 0 ? 'replayed, identical' : 'intact; partly replayed, identical';
}

function judged(world: string, chosen: Chosen, { replayed, unverified, eras }: VerifyReport): string[] {
  if (replayed > 0) {
    const by = replayedBy(chosen, eras).join(' and ');
    if (unverified === 0) return [`replayed with ${by}: every decision and every state follows from the inputs`];
    return [
      `replayed with ${by}: in replayed eras every decision and every state follows from the inputs`,
      'NOT checked: whether they do in unverified eras; to replay those, name their apps: --legacy MODULE',
    ];
  }
  const { lacking } = chosen;
  const why =
    lacking.length === 0 ? 'no app is at hand' : `the built-in app, ${BUILT_IN_NAMES}, lacks ${lacking.join(', ')}`;
  return [
    'NOT checked: whether decisions and states follow from the inputs',
    `${why}; to replay it, name its app: reprise verify ${world} --app MODULE`,
  ];
}

/** The code that replayed at least one era: the code in the file, the app, earlier apps. */
function replayedBy({ app, legacy, name }: Chosen, eras: VerifyReport['eras']): string[] {
  const byApps = eras.some(({ status, code }) => status === 'replayed' && code === undefined);
  const codes = [...new Set(eras.flatMap(({ code }) => (code === undefined ? [] : [`sha256:${code}`])))];
  const apps = app === undefined ? ['the apps of --legacy'] : [name, ...(legacy.length === 0 ? [] : ['earlier apps'])];
  return [...(codes.length === 0 ? [] : [`the code in the file (${codes.join(', ')})`]), ...(byApps ? apps : [])];
}
