/** What an adapter of models needs of agents: the transcript, the effect, the prices. */
export { readLlmOutput, readText, readTranscript } from './content/transcript.js';
export { microDollars, requirePrice } from './define/price.js';
export { llmGenerate } from './plans/effects.js';
