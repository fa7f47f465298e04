/** Projections that come with the kernel, useful for any world. Open those that you want. */
export { blobLinks } from './blob-links.js';
export { children } from './children.js';
export { openEffects } from './open-effects.js';
export { touch } from './touch.js';
export { troubles } from './troubles.js';
export { usageView } from './usage.js';
