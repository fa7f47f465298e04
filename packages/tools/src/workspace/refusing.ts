import type { ToolError } from '@reprise/agent';
import { toolError } from '@reprise/agent';
import { refusalText } from './confine.js';

/** Runs a tool's body; a refusal becomes data that the model reads, every other error stays an error. */
export async function refusing<T>(body: () => Promise<T>): Promise<T | ToolError> {
  try {
    return await body();
  } catch (error) {
    const text = refusalText(error);
    if (text === undefined) throw error;
    return toolError(text);
  }
}
