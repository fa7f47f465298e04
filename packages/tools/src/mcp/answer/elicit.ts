/**
 * Answers a server's questions through the questions of the current call, so that they and their answers are recorded.
 *
 * A person answers with the form's fields, or with the text `decline` or `cancel`.
 */
import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import { jsonSchema, type Schema, type ToolContext } from '@reprise/agent';

type Asking = Pick<ToolContext, 'ask'>;

const REFUSALS = ['decline', 'cancel'] as const;

type Refusal = (typeof REFUSALS)[number];

/** Puts a server's question to people. No answer counts as `cancel`. */
export async function elicit(params: ElicitRequestParams, server: string, { ask }: Asking): Promise<ElicitResult> {
  const question = `${server} asks: ${params.message}`;
  if (params.mode === 'url') {
    const answer = await ask({
      question: `${question}\n${params.url}`,
      options: [{ id: 'accept', label: 'I have opened it' }, ...REFUSALS.map((id) => ({ id, label: id }))],
    });
    return { action: answer.how === 'answered' ? (answer.value as ElicitResult['action']) : 'cancel' };
  }
  const answer = await ask({ question, answer: formOf(params.requestedSchema) });
  if (answer.how !== 'answered') return { action: 'cancel' };
  return isRefusal(answer.value) ? { action: answer.value } : { action: 'accept', content: answer.value as never };
}

/** The schema of valid answers: the form, or a refusal. */
function formOf(requested: object): Schema {
  const form = jsonSchema(requested);
  const told = { anyOf: [requested, { enum: REFUSALS }] };
  const standard = {
    version: 1 as const,
    vendor: 'reprise',
    validate: (given: unknown) => (isRefusal(given) ? { value: given } : form['~standard'].validate(given)),
    jsonSchema: { input: () => told },
  };
  return { '~standard': standard };
}

function isRefusal(given: unknown): given is Refusal {
  return REFUSALS.includes(given as Refusal);
}
