/** What an adapter of models needs of agents: the transcript, the effect, the prices. */
export { readLlmOutput } from './content/transcript.js';
export { microDollars, requirePrice } from './define/price.js';
export { llmGenerate } from './plans/effects.js';
export { contentType, SNIFF_BYTES } from './tools/output/media-type.js';
