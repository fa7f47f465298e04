/**
 * Questions of a server, put to whoever answers the questions of the call under way: recorded, with their answers.
 *
 * A person answers with what the form asks for, or with the text `decline` or `cancel`.
 */
import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import { jsonSchema, type Schema, type ToolContext } from '@reprise/agent';

type Asking = Pick<ToolContext, 'ask'>;

const REFUSALS = ['decline', 'cancel'] as const;

type Refusal = (typeof REFUSALS)[number];

/** Asks what a server asks. Nobody's answer is a cancel. */
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

/** What a form takes, or that somebody does not fill it in. */
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
