/** Why the answer of a run did not fit the `returns` of its agent. */
import { type ErrorDetail, fieldsOf, isRef, type Ref } from '@reprise/contracts';
import type { World, WorldFrame } from '@reprise/kernel';
import { readText } from '../../content/transcript.js';
import type { StopReason } from '../../contracts/lifecycle.js';

/** How many problems are named: the first ones say what kind of answer it was. */
const PROBLEMS_MAX = 4;

/** The link to the problems of an answer, in a frame with the receipt of its model call. */
export function unfitReturnIn({ records }: WorldFrame): Ref | undefined {
  for (const record of records) {
    if (record.kind !== 'receipt') continue;
    const { issue_ref } = fieldsOf(fieldsOf(record.receipt.payload).returns);
    if (isRef(issue_ref)) return issue_ref;
  }
  return undefined;
}

/**
 * The error of a run that ended since its answer does not fit; undefined for other ends.
 *
 * @param issue the problems, when the frame of the end has them
 */
export async function unfitReturn(
  { content }: Pick<World, 'content'>,
  stop: StopReason,
  issue: Ref | undefined,
): Promise<ErrorDetail | undefined> {
  if (stop.kind !== 'Failed' || stop.code !== 'validation_error/returns') return undefined;
  const text = issue === undefined ? '' : await readText(content, issue).catch(() => '');
  const problems = text.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
  const said = problems.slice(0, PROBLEMS_MAX).join('; ');
  const message = 'the answer does not fit the `returns` of the agent, also after the model was asked once more';
  return { name: 'UnfitReturn', message: said === '' ? message : `${message}: ${said}` };
}
