/** `reprise verify`: performs a world again, or at least checks that nobody changed it. */
import { type VerifyReport, verifyStore } from '@reprise/kernel';
import { type Chosen, chooseApp } from '../app.js';
import type { Io } from '../io.js';
import { withWorld } from '../open.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';

/** The options of `verify`. */
export interface VerifyArguments {
  readonly app?: string;
  /** 64 hex digits. */
  readonly expect?: string;
  readonly json?: true;
}

/** Verifies a world and reports; rejects with the first thing that is wrong. */
export async function verify(io: Io, world: string, options: VerifyArguments): Promise<void> {
  await withWorld(world, async (store) => {
    const chosen = await chooseApp(store, options.app);
    const report = await verifyStore(store, {
      ...(chosen.app === undefined ? {} : { app: chosen.app }),
      ...(options.expect === undefined ? {} : { expect: options.expect }),
      ...(io.err.isTTY ? { onProgress: ({ frames, of }) => showProgress(io, `${frames} of ${of} frames`) } : {}),
    }).finally(() => (io.err.isTTY ? showProgress(io, '') : undefined));
    await io.out.write(options.json === true ? asJson(report, chosen) : asText(world, report, chosen, options.expect));
  });
}

function showProgress(io: Io, text: string): void {
  void io.err.write(`\r\x1b[K${text}`).catch(() => undefined);
}

function asJson(report: VerifyReport, { app, name, lacking }: Chosen): string {
  const { performed, sealed, frames, records, blobs, erased, returned, head } = report;
  const used = app === undefined ? null : name;
  const digest = `sha256:${head.digest}`;
  return `${toJson({ ok: true, app: used, lacking, performed, sealed, frames, records, blobs, erased, returned, head: digest, seq: head.seq })}\n`;
}

function asText(world: string, report: VerifyReport, chosen: Chosen, expect: string | undefined): string {
  const { performed, sealed, frames, records, blobs, erased, returned, head } = report;
  const lines = [
    `${world}: ${chosen.app === undefined ? 'intact, not performed again' : 'performed again, identical'}`,
    'checked: the hash chain, the shape of every record, all content and links',
    ...judged(world, chosen),
    ...(expect === undefined ? [] : ['the expected head is in the journal']),
    `performed ${performed}, sealed ${sealed}`,
    `${frames} frames, ${records} records, ${blobs} blobs`,
    ...(erased === 0 ? [] : [`erased ${erased}: a tombstone in the journal accounts for each`]),
    ...(returned === 0 ? [] : [`NOTE: ${returned} blobs that were erased are there again: put since, or from a copy`]),
    `head sha256:${head.digest}`,
  ];
  return `${lines.map(escapeLine).join('\n')}\n`;
}

function judged(world: string, { app, name, lacking }: Chosen): string[] {
  if (app !== undefined) return [`performed with ${name}: every decision and every state follows from the inputs`];
  const why =
    lacking.length === 0 ? 'no app is at hand' : `the built-in app, @reprise/agent, lacks ${lacking.join(', ')}`;
  return [
    'NOT checked: whether decisions and states follow from the inputs',
    `${why}; to perform it, name its app: reprise verify ${world} --app MODULE`,
  ];
}
