/** Work of agents for an owner: texts for models, composed from the content of a world. */
export { composeAdapter, composeText } from './adapter/compose.js';
export * from './pure/index.js';
