/** `reprise prompt`: what one model call sent, and where each part of it came from. */
import { RepriseError } from '@reprise/contracts';
import { type RequestReport, requestOf } from '@reprise/operators/prompt';
import type { Io } from '../../process/io.js';
import { toJson } from '../../text/json.js';
import { withWorld } from '../../world/open.js';
import { promptText } from './prompt-text.js';

interface PromptArguments {
  /** `sent`: the body as it was sent, in place of the messages. */
  readonly as?: string;
  readonly full?: true;
  readonly json?: true;
}

/** Prints the request of one model call. */
export async function prompt(io: Io, world: string, call: string, { as, full, json }: PromptArguments): Promise<void> {
  if (as !== undefined && as !== 'sent')
    throw new RepriseError('invalid_argument', 'a request cannot be printed in this form', {
      where: '--as',
      expected: 'sent; without --as the messages are printed',
      actual: as,
    });
  await withWorld(world, async (store) => {
    const report = await requestOf(store, call, { sent: as === 'sent', signal: new AbortController().signal });
    if (as === 'sent') requireBody(report);
    if (json === true) return io.out.write(`${toJson({ ok: true, ...report })}\n`);
    if (as === 'sent') return io.out.write(`${report.sent.body}\n`);
    await io.out.write(promptText(report, { columns: io.out.columns, full: full === true }));
  });
}

/** The bytes are printed only when they are known to be those that were sent, or when nothing was recorded. */
function requireBody({ place, sent, asked }: RequestReport): void {
  if (sent.body !== undefined) return;
  const { why = 'no_writer', recorded, recomputed } = sent;
  const whom = asked === null ? '' : ` of ${asked.profile} ${asked.model}`;
  throw new RepriseError('request_differs', 'the bytes of this request are not reproducible here', {
    where: `the model call ${place}${whom}`,
    expected: recorded === null ? 'a receipt that says whom the call asked' : `sha256:${recorded}`,
    actual: recomputed === null ? 'no writer is known' : `sha256:${recomputed}`,
    hint: HINTS[why],
  });
}

const HINTS: Readonly<Record<NonNullable<RequestReport['sent']['why']>, string>> = {
  no_answer: 'The call has no answer, and nothing says whom it asked. Without --as sent its messages are printed.',
  no_writer:
    'The client had options that are not recorded, or is not one that Reprise brings. reprise verify --requests MODULE compares with the clients of your app; without --as sent the messages are printed.',
  erased: 'Content of the request was erased since. Without --as sent the rest of it is printed.',
  unknown_prompt: 'A newer release recorded the call. Use that release.',
};
