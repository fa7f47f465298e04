import { type Duration, defineSessionTool, durationMs, putText, type Tool } from '@reprise/agent';
import { aText, type KnownOptions, requireKnownOptions } from '@reprise/contracts';
import { type ContentStore, putValue } from '@reprise/kernel';
import * as z from 'zod';

/** Who may answer a question, and until when. */
interface AskHumanOptions {
  /** Who may answer besides the operator, as a pattern of principals. Default: people. */
  readonly to?: string;
  /** How long to wait for an answer. Default: without a bound. */
  readonly within?: Duration;
  /** The text for the model when no answer arrives in time. Default: a text that says so. */
  readonly default?: string;
}

const ASK_HUMAN_OPTIONS: KnownOptions<AskHumanOptions> = { to: aText, within: true, default: aText };

const args = z.strictObject({
  question: z.string().min(1).max(8_000).describe('The question, with all that is needed to answer it.'),
  options: z
    .array(z.string().min(1).max(200))
    .min(2)
    .max(16)
    .optional()
    .describe('Answers to choose from. Leave out for a free answer.'),
});

/**
 * Makes the tool `ask_human`: the model asks a person, and its run waits for the answer. Waiting costs nothing and
 * survives a restart of the process.
 *
 * @throws RepriseError `invalid_argument` when `within` is not a duration
 */
export function askHuman(options: AskHumanOptions = {}): Tool<'ask_human', z.output<typeof args>, never> {
  requireKnownOptions(options, ASK_HUMAN_OPTIONS, 'askHuman');
  const within = options.within === undefined ? {} : { within_ms: durationMs(options.within, 'within') };
  const to = options.to === undefined ? {} : { to: options.to };
  const fallback = async (content: ContentStore) =>
    options.default === undefined ? {} : { default_ref: await putText(content, options.default) };
  return defineSessionTool({
    name: 'ask_human',
    description: 'Asks a person and waits for the answer. Use it when only a person can know or decide something.',
    args,
    kind: 'ask',
    operation: async (asked, content) => {
      const question = {
        question: asked.question,
        ...(asked.options === undefined ? {} : { options: asked.options.map((label) => ({ id: label, label })) }),
      };
      return {
        op: 'ask',
        question_ref: await putValue(content, question),
        ...to,
        ...within,
        ...(await fallback(content)),
      };
    },
  });
}
