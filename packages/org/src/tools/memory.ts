/** The tools that read and write a store. The owner of the session answers them: see `memoryCall`. */
import type { KeepContext, Tool } from '@reprise/agent';
import { wellFormed } from '@reprise/contracts';
import { keepText } from '../handle/texts.js';
import { type MemoryTool, memoryCalls } from '../pure/store/index.js';
import { offerTools } from './offer.js';

/** A text as content that can be erased, with its summary. */
function words({ text }: { readonly text: string }, { content }: KeepContext) {
  return keepText(content, wellFormed(text));
}

/** The tools of a store, by their names. An organization gives each of its agents those that the agent may use. */
export const memoryTools: Readonly<Record<MemoryTool, Tool>> = offerTools(memoryCalls, {
  memory_store: words,
  memory_update: words,
});
