/** What opening a world needs, as a module of its own: bundlers leave out the rest of the packages. */
export { openAgentWorld, reportOnce } from '@reprise/agent/world';
export { llmGenerateAdapter } from '@reprise/providers';
