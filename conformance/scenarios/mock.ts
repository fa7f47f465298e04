/** Loads the answers of a scenario's model into a mock provider that we did not write. */
import type { LLMock } from '@copilotkit/aimock';
import type { Run } from 'reprise';
import type { Answer } from './scenario.js';

/** The pause between two pieces of a slow answer, in milliseconds. */
const SLOWLY_MS = 25;

/** Loads a scenario's answers into a mock provider; withheld ones are sent when `letGo` resolves. */
export function teach(mock: LLMock, says: readonly Answer[], letGo: Promise<void>): void {
  for (const [to, answers] of byAddressee(says)) {
    let asked = 0;
    const next = async () => {
      const answer = answers[Math.min(asked++, answers.length - 1)] as Answer;
      if (answer.held === true) await letGo;
      return responseOf(answer);
    };
    const slowly = answers.some((answer) => answer.slowly === true);
    mock.on(to === undefined ? {} : { systemMessage: to }, next, slowly ? { latency: SLOWLY_MS } : {});
  }
}

/** Sorts answers by their receivers, those for any agent last: the mock takes the first that fits. */
function byAddressee(says: readonly Answer[]): [to: string | undefined, answers: readonly Answer[]][] {
  const groups = new Map<string | undefined, Answer[]>();
  for (const answer of says) groups.set(answer.to, [...(groups.get(answer.to) ?? []), answer]);
  return [...groups].sort(([a], [b]) => Number(a === undefined) - Number(b === undefined));
}

function responseOf({ text, calls = [], usage, fails }: Answer) {
  if (fails !== undefined) return { error: { message: fails.message, type: 'api_error' }, status: fails.status };
  const toolCalls = calls.map(({ id, tool, args }) => ({ id, name: tool, arguments: JSON.stringify(args) }));
  const counted = usage === undefined ? {} : { usage: countsOf(usage) };
  if (toolCalls.length === 0) return { content: text ?? '', ...counted };
  return { ...(text === undefined ? {} : { content: text }), toolCalls, ...counted };
}

/** By the names of every protocol. */
function countsOf({ in: input, out }: NonNullable<Answer['usage']>) {
  return { prompt_tokens: input, completion_tokens: out, input_tokens: input, output_tokens: out };
}

/** Waits until a live model has sent something. */
export async function speaksLive(run: Run): Promise<void> {
  for await (const event of run.stream()) if (event.type === 'delta') return;
}
