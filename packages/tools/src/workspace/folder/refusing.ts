import type { ToolError } from '@reprise/agent';
import { toolError } from '@reprise/agent';
import { refusalText } from './confine.js';

/** Runs a tool's body; a refusal becomes data for the model, every other error is thrown. */
export async function refusing<T>(body: () => Promise<T>): Promise<T | ToolError> {
  try {
    return await body();
  } catch (error) {
    const text = refusalText(error);
    if (text === undefined) throw error;
    return toolError(text);
  }
}
