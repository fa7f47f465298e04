/** Conversations that continue after a model's answer. */
import { putText, type TranscriptItem } from '@reprise/agent';
import type { ContentStore } from '@reprise/kernel';
import { payloadOf } from '../answers.js';
import { authorIn, type Ran } from '../harness.js';

/** The transcript after an answer, with results for its calls. */
export async function answered(ran: Ran, content: ContentStore): Promise<TranscriptItem[]> {
  const { output_ref, tool_calls } = payloadOf(ran);
  for await (const link of ran.content.list()) await content.put((await ran.content.get(link)) as Uint8Array);
  const calls = tool_calls.map(({ call_id, tool, args_ref }) => ({ call_id, tool, args_ref }));
  const results = calls.map(
    async ({ call_id, tool }): Promise<TranscriptItem> => ({
      role: 'tool',
      call_id,
      tool,
      output_ref: await putText(content, `result of ${call_id}`),
      is_error: false,
    }),
  );
  return [...ran.items, { role: 'assistant', output_ref, by: authorIn(ran), calls }, ...(await Promise.all(results))];
}
