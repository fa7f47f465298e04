/** What a world does only on request, as a module of its own: it is loaded by the first request. */
export { forkWorld } from '../../replay/fork/index.js';
export { verifyStore, worldAt } from '../../replay/verify/index.js';
export { feedFork } from './life/feed.js';
