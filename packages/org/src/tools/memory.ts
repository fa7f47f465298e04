/** The tools that read and write a store. The owner of the session answers them: see `memoryCall`. */
import type { Tool } from '@reprise/agent';
import { type MemoryTool, memoryCalls } from '../pure/store/index.js';
import { offerTools } from './offer.js';

/** The tools of a store, by their names. An organization gives each of its agents those that the agent may use. */
export const memoryTools: Readonly<Record<MemoryTool, Tool>> = offerTools(memoryCalls, {});
