/** Texts as the tools of a society keep them. */
import type { AgentWorld } from '@reprise/agent';
import { putErasable } from '@reprise/kernel';

/** The links of an item's text. */
export async function keptText(world: AgentWorld, text: string) {
  const { content } = world.kernel;
  const bytes = new TextEncoder().encode(text);
  return {
    content_ref: await putErasable(content, bytes),
    summary_ref: await putErasable(content, bytes),
    head_ref: await content.put(bytes.subarray(0, 200)),
  };
}
